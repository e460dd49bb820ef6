"""Costs in a file that stays readable in a diff, and what changed since it was written.

TOML, a line for each path: the same target, seed and cases write the same bytes, on any machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from channelsim.channel.lab.costs.bundles import BundleCost
from channelsim.channel.lab.costs.costs import Figures
from channelsim.channel.system import toml_files
from channelsim.channel.system.file_kinds import Kind

HEADER = "# Written by `channelsim cost TARGET --write FILE`; `--check FILE` holds it.\n"

_BARE = re.compile(r"[A-Za-z0-9_-]+")

Line = tuple[str, str]
"""The section and the name of a line of figures."""


class Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stored figures by validator and path, bundles by purpose, and how they were measured."""

    target: str
    cases: int
    seed: str
    validators: dict[str, dict[str, Figures]]
    bundles: dict[str, BundleCost]

    def lines(self) -> dict[Line, dict[str, int]]:
        """Every line of figures, without the numbers of runs, which are not compared."""
        rows: dict[Line, Figures | BundleCost] = {
            (name, path): figures
            for name, paths in self.validators.items()
            for path, figures in paths.items()
        }
        rows |= {("bundle", name): cost for name, cost in self.bundles.items()}
        return {line: _fields(row) for line, row in rows.items()}


def text(snapshot: Snapshot) -> str:
    """The file's text, sorted."""
    parts = [
        HEADER,
        f"target = {_quoted(snapshot.target)}\n",
        f"cases = {snapshot.cases}\n",
        f"seed = {_quoted(snapshot.seed)}\n",
    ]
    for name, paths in sorted(snapshot.validators.items()):
        parts.append(f"\n[validators.{_key(name)}]\n")
        parts += _table(paths)
    parts.append("\n[bundles]\n")
    parts += _table(snapshot.bundles)
    return "".join(parts)


def read(path: Path) -> Snapshot:
    """The snapshot in a file. Raises `UsageError`, naming the file and the place."""
    return toml_files.read(path, Snapshot, Kind.COSTS).value


class Change(msgspec.Struct, frozen=True):
    """A figure that is not what it was, for example the `most` of `commit slash`."""

    figure: str
    was: int
    now: int

    def __str__(self) -> str:
        grown = f"{100 * (self.now - self.was) / self.was:+.2f} %" if self.was else "from nothing"
        return f"{self.figure}: {self.was:,} -> {self.now:,} ({grown})"


@dataclass(frozen=True, slots=True)
class Changes:
    """Figures that rose by more than was allowed, that fell; lines that are gone or new."""

    risen: tuple[Change, ...]
    fallen: tuple[Change, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """True if a figure rose beyond the tolerance or can no longer be measured."""
        return bool(self.risen or self.gone)


def compare(was: Snapshot, now: Snapshot, tolerance: float) -> Changes:
    """Compare figures with stored ones; a rise of up to `tolerance` percent is no failure."""
    before, after = was.lines(), now.lines()
    risen, fallen = [], []
    for line in (line for line in before if line in after):
        for figure, old in before[line].items():
            change = Change(f"{' '.join(line)} {figure}", old, after[line][figure])
            if 100 * (change.now - old) > tolerance * old:
                risen.append(change)
            elif change.now < old:
                fallen.append(change)
    return Changes(
        tuple(risen),
        tuple(fallen),
        tuple(" ".join(line) for line in before if line not in after),
        tuple(" ".join(line) for line in after if line not in before),
    )


def _fields(row: Figures | BundleCost) -> dict[str, int]:
    """The figures of a line, without the number of runs."""
    fields: dict[str, int] = msgspec.to_builtins(row)
    fields.pop("runs", None)
    return fields


def _table(rows: Mapping[str, Figures | BundleCost]) -> Iterator[str]:
    for name, figures in sorted(rows.items()):
        fields = msgspec.to_builtins(figures)
        inner = ", ".join(f"{key} = {number}" for key, number in fields.items())
        yield f"{_key(name)} = {{ {inner} }}\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A string as TOML has it: as JSON, but for the one control character that JSON lets stand."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
