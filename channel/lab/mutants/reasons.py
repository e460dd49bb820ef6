"""Stored reasons why a mutant is the same program: one file beside each game, `mutants.toml`.

    [programs]                 # the reasons hold for these programs alone, by tree hash
    end = "6f0c…"

    [[equivalent]]
    validator = "end"
    function  = "select"
    reason    = "a selection has no bit beyond the cards"
    changes   = ["3 11 -> 5"]  # the expression's number, what stands there, what stands then

A reason may be given only where no state that the rules read, no move and no evidence tells the
two programs apart, or where they differ in cost alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files

import msgspec

from channel.lab.mutants.kinds import Mutant
from channel.lab.target.target import REFEREE, Target
from channel.system import toml_files
from channel.system.file_kinds import Kind
from clsp.programs import Program

FILE = "mutants.toml"


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why some changes of one function make no difference."""

    validator: str
    function: str
    reason: str
    changes: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    programs: dict[str, str]
    equivalent: tuple[Reason, ...]


_Key = tuple[str, str, str]


@dataclass(frozen=True)
class Reasons:
    """The reasons that are stored for a target's programs."""

    reasons: Mapping[_Key, str]

    def reason(self, mutant: Mutant) -> str | None:
        """Why this mutant is the same program; None where nobody has argued that."""
        return self.reasons.get(_key(mutant))

    def stale(self, mutants: Iterable[Mutant]) -> list[str]:
        """The stored keys that none of these mutants has: what they spoke of is gone."""
        known = {_key(mutant) for mutant in mutants}
        return [", ".join(key) for key in self.reasons if key not in known]


def stored_reasons(target: Target) -> Reasons:
    """The reasons for this target's programs: of each that is, byte for byte, the one that the
    reasons were written for. The game's are in its package, the referee's in this one."""
    reasons: dict[_Key, str] = {}
    here = {**target.programs, REFEREE: target.referee}
    for package in (type(target.game).__module__.rpartition(".")[0], __package__):
        reasons |= _read(package, here)
    return Reasons(reasons)


def _read(package: str, programs: Mapping[str, Program]) -> dict[_Key, str]:
    path = files(package) / FILE
    if not path.is_file():
        return {}
    with as_file(path) as plain:
        file = toml_files.read(plain, _File, Kind.REASONS).value
    current = {
        name
        for name, known in file.programs.items()
        if name in programs and programs[name].hash.hex() == known
    }
    return {
        (one.validator, one.function, change): one.reason
        for one in file.equivalent
        if one.validator in current
        for change in one.changes
    }


def _key(mutant: Mutant) -> _Key:
    return mutant.validator, mutant.function, mutant.key
