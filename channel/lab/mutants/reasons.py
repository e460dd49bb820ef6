"""Stored reasons why a mutant is equivalent to its original: `mutants.toml` beside each game.

    [[equivalent]]
    validator = "end"
    function  = "select"       # of the source
    reason    = "a selection has no bit beyond the cards"
    changes   = ["items -> mask in (if items …)"]   # as `channelsim mutants` prints them

A reason may be given only where no state that the rules read, no move and no evidence distinguishes
the two programs, or where they differ in cost alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files

import msgspec

from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.target.target import Target
from channelsim.channel.system import toml_files
from channelsim.channel.system.file_kinds import Kind
from channelsim.games.registry import package_of

FILE = "mutants.toml"


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason why some changes of one function make no difference."""

    validator: str
    function: str
    reason: str
    changes: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    equivalent: tuple[Reason, ...]


_Key = tuple[str, str, str]
"""A validator, a function and a change."""


@dataclass(frozen=True)
class Reasons:
    """The reasons that are stored for a target's programs."""

    reasons: Mapping[_Key, str]

    def reason(self, mutant: Mutant) -> str | None:
        """The reason why this mutant is equivalent; None where none is stored."""
        return self.reasons.get(_key(mutant))

    def stale(self, mutants: Iterable[Mutant]) -> list[str]:
        """The stored changes that no mutant makes any longer."""
        known = {_key(mutant) for mutant in mutants}
        return [", ".join(key) for key in self.reasons if key not in known]


def stored_reasons(target: Target) -> Reasons:
    """The reasons for those programs of a target that are the installed ones, byte for byte.

    Those for a game's programs are in its package, those for the referee in this one.
    """
    reasons: dict[_Key, str] = {}
    for package in filter(None, (package_of(target.game.name), __package__)):
        reasons |= _read(package, target.unchanged)
    return Reasons(reasons)


def _read(package: str, programs: frozenset[str]) -> dict[_Key, str]:
    path = files(package) / FILE
    if not path.is_file():
        return {}
    with as_file(path) as plain:
        file = toml_files.read(plain, _File, Kind.REASONS).value
    return {
        (one.validator, one.function, change): one.reason
        for one in file.equivalent
        if one.validator in programs
        for change in one.changes
    }


def _key(mutant: Mutant) -> _Key:
    return mutant.validator, mutant.function, mutant.change
