"""Tables of a document: coverage, outcomes, costs against the block, and mutants."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from channelsim.channel.attack.crashed_run import CrashedRun
from channelsim.channel.attack.kinds import KINDS
from channelsim.channel.documents.attack import AttackDocument
from channelsim.channel.documents.conform import CheckResult, ConformDocument, Status, mistake_key
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.documents.coverage import CoverageDocument
from channelsim.channel.documents.crashes import CrashesDocument
from channelsim.channel.documents.crosscheck import CrosscheckDocument
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.explore import ExploreDocument
from channelsim.channel.documents.fuzz import FuzzDocument
from channelsim.channel.documents.mutants import MutantsDocument
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.documents.results import CampaignResults, LostWork, Results
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.sentence import title
from channelsim.channel.lab.costs.costs import share_text
from channelsim.channel.lab.mutants.report import Count, Survivor
from channelsim.channel.prove.result import ProofResult
from channelsim.channel.report.html.page import grouped
from channelsim.channel.simulation.sweep import Cell as DisputeCell
from channelsim.clsp.analysis.tracer import CoverageCounts
from channelsim.games.amounts import counted

FEW = 3
"""Failures of a check that its row names."""


class Link(msgspec.Struct, frozen=True):
    """A link of a cell to the section with this key, or text where there is none ("")."""

    text: str
    key: str = ""


class Cell(msgspec.Struct, frozen=True):
    """A cell: its text, and the share of a whole from 0 to 1 that a bar shows (None: no bar).

    `status` is "good", "bad" or "mild" for a result that is shown in its colour. `links` stand
    after the text.
    """

    text: str
    share: float | None = None
    is_number: bool = False
    status: str = ""
    links: tuple[Link, ...] = ()


class Table(msgspec.Struct, frozen=True):
    """A table; the first cell of each row names it. `failed`: it shows that a check failed.

    `wraps`: its cells have sentences, and stand below each other on a narrow screen.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    failed: bool = False
    wraps: bool = False


def tables(document: Results, keys: Mapping[Hashable, str]) -> tuple[Table, ...]:
    """The tables of a document that have rows; `keys` are those of the sections of mistakes."""
    lost = [_lost(document.lost)] if isinstance(document, CampaignResults) else []
    return tuple(table for table in (*lost, *_tables(document, keys)) if table.rows)


def _tables(document: Results, keys: Mapping[Hashable, str]) -> Iterator[Table]:
    """The tables of each command."""
    match document:
        case ConformDocument():
            yield _checks(document.checks, keys)
        case CoverageDocument():
            yield _coverage({name: program.total for name, program in document.programs.items()})
        case CrosscheckDocument():
            sampled = document.coverage.items()
            yield _coverage({name: sample.reached for name, sample in sampled if sample.reached})
            yield _outcomes(document.outcomes)
            yield _tried(document.tried)
            yield _costs(document.most_cost.items())
        case FuzzDocument():
            yield _coverage(document.coverage)
            yield _tried(document.tried)
        case CrashesDocument():
            yield _kills(document)
            yield _killed(document.failed)
        case CostDocument():
            costs = document.costs
            yield _costs(
                (f"{name} {what}", figures.most)
                for name, kinds in costs.validators.items()
                for what, figures in kinds.items()
            )
            totals = ((name, bundle.total) for name, bundle in costs.bundles.items())
            yield _costs(totals, "Whole bundles")
        case MutantsDocument():
            by_name = {name: program.total for name, program in document.validators.items()}
            yield _mutants("Mutants by validator", "validator", by_name)
            yield _mutants("Mutants by kind", "kind", document.kinds)
            yield _survivors(document.survivors)
        case DisputesDocument():
            yield _matrix(document.matrix)
        case AttackDocument():
            yield _actions(document.actions)
            yield _counts("Sessions by goal", "goal", document.goals)
            yield _counts("Sessions by phase", "phase", document.phases)
        case ExploreDocument():
            yield _counts("Choices", "choice", document.choices)
            yield _counts("Bounds", "bound", document.bounds, "at most")
        case ProveDocument():
            yield _proofs(document.proofs)
            yield _bounds(document)
            yield _undecided(document.proofs)


def _proofs(proofs: Sequence[ProofResult]) -> Table:
    head = ("validator", "claim", "result", "sizes of the move", "paths", "run for real")
    rows = tuple(
        (
            Cell(", ".join(filter(None, (proof.validator, proof.shape)))),
            Cell(proof.claim),
            Cell(proof.verdict, status="good" if proof.is_proved else "bad"),
            _number(len(proof.sizes)),
            _number(proof.paths),
            _number(proof.confirmed),
            _number(proof.unconfirmed),
            _number(proof.bounded),
            _number(proof.samples),
        )
        for proof in proofs
    )
    more = ("without an input that was found", "on which larger values are left out")
    failed = not all(proof.is_proved for proof in proofs)
    return Table("Proofs", (*head, *more, "inputs run besides"), rows, failed, wraps=True)


def _bounds(document: ProveDocument) -> Table:
    """What the proofs rest on, each line once, with the validators."""
    names: dict[tuple[str, str], dict[str, None]] = {}
    for proof in document.proofs:
        lines = [
            *((name, digest) for name, digest in proof.sides.items()),
            *(("bound", bound) for bound in proof.bounds),
            *(("assumption", assumption) for assumption in proof.assumes),
            *(("lemma", lemma) for lemma in proof.lemmas),
            *(("model", model) for model in document.models),
            *document.versions.items(),
        ]
        for line in lines:
            names.setdefault(line, {})[proof.validator] = None
    rows = tuple(
        (Cell(what), Cell(grouped(text) if what == "bound" else text), Cell(", ".join(of)))
        for (what, text), of in names.items()
    )
    return Table("What the proofs rest on", ("what", "value", "validators"), rows, wraps=True)


def _undecided(proofs: Iterable[ProofResult]) -> Table:
    rows = tuple(
        (Cell(proof.name), Cell(gap.reason), Cell(gap.place), _number(gap.times))
        for proof in proofs
        for gap in proof.undecided
    )
    return Table("Undecided", ("claim", "reason", "place", "paths"), rows, bool(rows), wraps=True)


def _coverage(reached: Mapping[str, CoverageCounts]) -> Table:
    rows = (
        (
            Cell(name),
            _of(counts.nodes_reached, counts.nodes),
            _of(counts.branches_reached, counts.branches),
        )
        for name, counts in reached.items()
    )
    return Table("Coverage by validator", ("program", "nodes", "branches"), tuple(rows))


def _outcomes(outcomes: Mapping[str, Mapping[str, int]]) -> Table:
    words = tuple(dict.fromkeys(word for counts in outcomes.values() for word in counts))
    rows = []
    for name, counts in outcomes.items():
        whole = sum(counts.values()) or 1
        cells = (_number(counts.get(word, 0), counts.get(word, 0) / whole) for word in words)
        rows.append((Cell(name), *cells))
    return Table("Outcomes", ("program", *words), tuple(rows))


def _tried(tried: Mapping[str, int]) -> Table:
    rows = tuple((Cell(law), _number(times)) for law, times in tried.items())
    return Table("Laws tried", ("law", "times"), rows)


def _counts(title: str, what: str, counts: Mapping[str, int], number: str = "times") -> Table:
    """The counts by name, and the names of those that are 0 in the last row."""
    rows = [(Cell(name), _number(count)) for name, count in counts.items() if count]
    others = [name for name, count in counts.items() if not count]
    if others:
        rows.append((Cell(f"none of: {', '.join(others)}"), _number(0)))
    return Table(title, (what, number), tuple(rows))


def _actions(counts: Mapping[str, int]) -> Table:
    """The actions that took place, each in words, and those that did not in the last row."""
    rows = [
        (Cell(KINDS[name].about if name in KINDS else name), Cell(name), _number(count))
        for name, count in counts.items()
        if count
    ]
    others = [name for name, count in counts.items() if not count]
    if others:
        rows.append((Cell("nothing of these"), Cell(", ".join(others)), _number(0)))
    return Table("What took place", ("what", "action", "times"), tuple(rows), wraps=True)


def fact(value: object) -> str:
    """A value of a document as people write it.

    >>> fact(None), fact(True), fact(1500), fact("x")
    ('', 'yes', '1,500', 'x')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)


def _survivors(survivors: Iterable[Survivor]) -> Table:
    names = tuple(name for name in Survivor.__struct_fields__ if name != "proof")
    listed = list(survivors)
    rows = tuple(
        (
            *(Cell(fact(getattr(survivor, name))) for name in names),
            Cell("" if survivor.proof is None else survivor.proof.text),
        )
        for survivor in listed
    )
    failed = any(survivor.is_open for survivor in listed)
    return Table("Mutants that nothing noticed", (*names, "proof"), rows, failed, wraps=True)


def _matrix(matrix: Mapping[str, Mapping[str, DisputeCell]]) -> Table:
    rows = []
    for name, parts in matrix.items():
        total = DisputeCell()
        for cell in parts.values():
            total.merge(cell)
        endings = ", ".join(f"{word} {count}" for word, count in total.results.items())
        broken = Cell(f"{total.broken:,}", is_number=True, status="bad" if total.broken else "good")
        rows.append((Cell(name), _number(total.runs), broken, Cell(endings)))
    head = ("adversary", "runs", "broken promises", "how they ended")
    failed = any(cell.broken for parts in matrix.values() for cell in parts.values())
    return Table("Disputes", head, tuple(rows), failed=failed)


def _kills(document: CrashesDocument) -> Table:
    counts = {stage.replace("_", " "): kills for stage, kills in document.stages.items()}
    if document.node_kills:
        counts["the node"] = document.node_kills
    most = max(counts.values(), default=0) or 1
    rows = tuple((Cell(stage), _number(kills, kills / most)) for stage, kills in counts.items())
    return Table("Kills by stage", ("stage", "kills"), rows)


def _killed(failed: Iterable[CrashedRun]) -> Table:
    rows = tuple(
        (
            Cell(run.title or f"seed {run.scenario['seed']}"),
            Cell("; ".join(line.strip() for line in run.details)),
            *(
                Cell(", ".join(f"at event {kill.event} ({kill.stage.value})" for kill in kills))
                for kills in run.kills
            ),
        )
        for run in failed
    )
    head = ("run", "what went wrong", "initiator killed", "receiver killed")
    return Table("Runs in which something went wrong", head, rows, failed=True, wraps=True)


def _lost(lost: Iterable[LostWork]) -> Table:
    rows = tuple((Cell(f"{work.seed:,}"), _number(work.work)) for work in lost)
    head = ("number of the seed", "work that is missing")
    return Table("Seeds that crashed their worker", head, rows, failed=True)


_STATUS = {Status.PASSED: "good", Status.FAILED: "bad", Status.NOT_CHECKED: "mild"}


def _checks(checks: Iterable[CheckResult], keys: Mapping[Hashable, str]) -> Table:
    rows = tuple(
        (
            Cell(check.check),
            Cell(check.result.value, status=_STATUS[check.result]),
            Cell(check.tried),
            Cell(check.unchecked, links=tuple(_few(check.failures, keys))),
        )
        for check in checks
    )
    head = ("check", "result", "tried", "why")
    failed = any(check.failures for check in checks)
    return Table("Checks", head, rows, failed=failed, wraps=True)


def _few(failures: tuple[Finding, ...], keys: Mapping[Hashable, str]) -> Iterator[Link]:
    """Links to the first failures, those of one title as one, and how many more there are."""
    alike: dict[str, list[Finding]] = {}
    for failure in failures:
        alike.setdefault(title(failure), []).append(failure)
    for text, same in islice(alike.items(), FEW):
        times = f" ({counted(len(same), 'time')})" if len(same) > 1 else ""
        yield Link(f"{text}{times}", keys.get(mistake_key(same[0]), ""))
    if more := sum(map(len, islice(alike.values(), FEW, None))):
        yield Link(f"and {more:,} more")


def _mutants(title: str, name: str, counts: Mapping[str, Count]) -> Table:
    rows = tuple(
        (
            Cell(made_in),
            _of(count.killed, count.made),
            *map(_number, (count.proved, count.argued, count.open)),
        )
        for made_in, count in counts.items()
        if count.made
    )
    return Table(title, (name, "killed", "proved", "argued", "open"), rows)


def _costs(costs: Iterable[tuple[str, int]], title: str = "Costs against the block") -> Table:
    """Costs with their share of a block, and bars against the dearest."""
    listed = list(costs)
    dearest = max((cost for _, cost in listed), default=0) or 1
    rows = tuple(
        (
            Cell(name),
            _number(cost, cost / dearest),
            Cell(share_text(cost), is_number=True),
        )
        for name, cost in listed
    )
    return Table(title, ("run", "most", "share of a block"), rows)


def _of(part: int, whole: int) -> Cell:
    return Cell(f"{part:,} of {whole:,}", min(part / whole, 1.0) if whole else 1.0, is_number=True)


def _number(number: int, share: float | None = None) -> Cell:
    return Cell(f"{number:,}", share, is_number=True)
