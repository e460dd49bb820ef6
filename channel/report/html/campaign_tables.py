"""Tables of a campaign's document: coverage, outcomes, costs against the block, and mutants.

Documents of all commands are read by the keys that they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.campaign.directory import Figure
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.clsp.run import MAX_COST

FEW = 3
"""Failures of a check that its row names."""


class Cell(msgspec.Struct, frozen=True):
    """A cell: its text, and the share of a whole from 0 to 1 that a bar shows (None: no bar)."""

    text: str
    share: float | None = None
    is_number: bool = False


class Table(msgspec.Struct, frozen=True):
    """A table; the first cell of each row names it. `failed`: it shows that a check failed."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    failed: bool = False


class _Reached(msgspec.Struct, frozen=True):
    nodes: Figure
    nodes_reached: Figure
    branches: Figure
    branches_reached: Figure


class _Cost(msgspec.Struct, frozen=True):
    most: Figure


class _Bundle(msgspec.Struct, frozen=True):
    total: Figure


class _Killed(msgspec.Struct, frozen=True):
    made: Figure
    killed: Figure
    argued: Figure
    open: Figure


class _Lost(msgspec.Struct, frozen=True):
    seed: Figure
    work: Figure


class _Check(msgspec.Struct, frozen=True):
    check: str
    result: str
    tried: str = ""
    why: str = ""
    failures: tuple[Finding, ...] = ()


class _Cell(msgspec.Struct, frozen=True):
    runs: Figure
    broken_promises: Figure
    results: dict[str, Figure]


def tables(path: Path, document: Mapping[str, Any]) -> tuple[Table, ...]:
    """The tables of the document in a file. Raises `UsageError` for a key of another shape."""
    found: list[Table] = []
    for key, make in SECTIONS:
        if key in document:
            try:
                table = make(document[key])
            except msgspec.ValidationError as error:
                raise UsageError(f"{path}: key `{key}`: {ascii(str(error)[:200])[1:-1]}") from None
            if table.rows:
                found.append(table)
    return tuple(found)


def _coverage(data: Any) -> Table:
    reached = msgspec.convert(data, dict[str, _Reached])
    rows = (
        (
            Cell(name),
            _of(one.nodes_reached, one.nodes),
            _of(one.branches_reached, one.branches),
        )
        for name, one in reached.items()
    )
    return Table("Coverage by validator", ("program", "nodes", "branches"), tuple(rows))


def _outcomes(data: Any) -> Table:
    outcomes = msgspec.convert(data, dict[str, dict[str, Figure]])
    words = tuple(dict.fromkeys(word for counts in outcomes.values() for word in counts))
    rows = []
    for name, counts in outcomes.items():
        whole = sum(counts.values()) or 1
        cells = (_number(counts.get(word, 0), counts.get(word, 0) / whole) for word in words)
        rows.append((Cell(name), *cells))
    return Table("Outcomes", ("program", *words), tuple(rows))


def _tried(data: Any) -> Table:
    tried = msgspec.convert(data, dict[str, Figure])
    rows = tuple((Cell(law), _number(times)) for law, times in tried.items())
    return Table("Laws tried", ("law", "times"), rows)


def _most_cost(data: Any) -> Table:
    costs = msgspec.convert(data, dict[str, Figure])
    return _costs((name, cost) for name, cost in costs.items())


def _bundles(data: Any) -> Table:
    costs = msgspec.convert(data, dict[str, _Bundle])
    return _costs(((name, one.total) for name, one in costs.items()), "Whole bundles")


def _validators(data: Any) -> Table:
    """The key of that name: costs in one command's document, mutants in another's."""
    found = msgspec.convert(data, dict[str, dict[str, Any]])
    if any("made" in one for one in found.values()):
        return _mutants("Mutants by validator", msgspec.convert(data, dict[str, _Killed]))
    costs = msgspec.convert(data, dict[str, dict[str, _Cost]])
    return _costs(
        (f"{name} {what}", cost.most)
        for name, kinds in costs.items()
        for what, cost in kinds.items()
    )


def _kinds(data: Any) -> Table:
    return _mutants("Mutants by kind", msgspec.convert(data, dict[str, _Killed]))


def fact(value: object) -> str:
    """A value of a document as people write it.

    >>> fact(None), fact(True), fact(3), fact("x")
    ('', 'yes', '3', 'x')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _survivors(data: Any) -> Table:
    survivors = msgspec.convert(data, list[dict[str, Any]])
    names = tuple(dict.fromkeys(name for one in survivors for name in one))
    rows = tuple(tuple(Cell(fact(one.get(name))) for name in names) for one in survivors)
    return Table("Mutants that nothing noticed", names, rows, failed=bool(rows))


def _matrix(data: Any) -> Table:
    matrix = msgspec.convert(data, dict[str, dict[str, _Cell]])
    rows = []
    for name, parts in matrix.items():
        runs = sum(cell.runs for cell in parts.values())
        broken = sum(cell.broken_promises for cell in parts.values())
        results: dict[str, int] = {}
        for cell in parts.values():
            for word, count in cell.results.items():
                results[word] = results.get(word, 0) + count
        said = ", ".join(f"{word} {count}" for word, count in results.items())
        rows.append((Cell(name), _number(runs), _number(broken), Cell(said)))
    head = ("adversary", "runs", "broken promises", "how they ended")
    failed = any(cell.broken_promises for parts in matrix.values() for cell in parts.values())
    return Table("Disputes", head, tuple(rows), failed=failed)


def _lost(data: Any) -> Table:
    rows = tuple(
        (Cell(f"{one.seed:,}"), _number(one.work)) for one in msgspec.convert(data, list[_Lost])
    )
    head = ("number of the seed", "work that is missing")
    return Table("Seeds that crashed their worker", head, rows, failed=True)


def _checks(data: Any) -> Table:
    checks = msgspec.convert(data, list[_Check])
    rows = tuple(
        (Cell(one.check), Cell(one.result), Cell(one.tried), Cell(one.why or _few(one.failures)))
        for one in checks
    )
    head = ("check", "result", "tried", "why")
    return Table("Checks", head, rows, failed=any(one.failures for one in checks))


def _few(failures: tuple[Finding, ...]) -> str:
    """The first failures, and how many more there are."""
    more = f"; and {len(failures) - FEW} more" if len(failures) > FEW else ""
    return "; ".join(one.line for one in failures[:FEW]) + more


def _mutants(title: str, found: Mapping[str, _Killed]) -> Table:
    rows = tuple(
        (Cell(name), _of(one.killed, one.made), _number(one.argued), _number(one.open))
        for name, one in found.items()
        if one.made
    )
    return Table(title, ("", "killed", "argued", "open"), rows)


def _costs(costs: Iterator[tuple[str, int]], title: str = "Costs against the block") -> Table:
    """Costs with their share of a block, and bars against the dearest."""
    listed = list(costs)
    dearest = max((cost for _, cost in listed), default=0) or 1
    rows = tuple(
        (
            Cell(name),
            _number(cost, cost / dearest),
            Cell(f"{cost / MAX_COST:.4%}", is_number=True),
        )
        for name, cost in listed
    )
    return Table(title, ("run", "most", "share of a block"), rows)


def _of(part: int, whole: int) -> Cell:
    return Cell(f"{part:,} of {whole:,}", min(part / whole, 1.0) if whole else 1.0, is_number=True)


def _number(number: int, share: float | None = None) -> Cell:
    return Cell(f"{number:,}", share, is_number=True)


SECTIONS: tuple[tuple[str, Callable[[Any], Table]], ...] = (
    ("lost", _lost),
    ("checks", _checks),
    ("coverage", _coverage),
    ("outcomes", _outcomes),
    ("tried", _tried),
    ("most_cost", _most_cost),
    ("validators", _validators),
    ("bundles", _bundles),
    ("kinds", _kinds),
    ("survivors", _survivors),
    ("matrix", _matrix),
)
"""The keys of documents that are shown as tables, in the order of the page."""
