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

import msgspec

from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.targets.stored_reasons import Place, Reason, ReasonsFile, read_reasons
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system.file_kinds import Kind
from channelsim.games.registry import package_of

FILE = "mutants.toml"


class _Equivalent(Reason, frozen=True):
    places: tuple[str, ...] = msgspec.field(name="changes")


class _File(ReasonsFile, frozen=True):
    reasons: tuple[_Equivalent, ...] = msgspec.field(name="equivalent")


@dataclass(frozen=True)
class Reasons:
    """The reasons that are stored for a target's programs."""

    reasons: Mapping[Place, str]

    def reason(self, mutant: Mutant) -> str | None:
        """The reason why this mutant is equivalent; None where none is stored."""
        return self.reasons.get(_key(mutant))

    def stale(self, mutants: Iterable[Mutant]) -> list[str]:
        """The stored changes that no mutant makes any longer."""
        known = {_key(mutant) for mutant in mutants}
        return [", ".join(key) for key in self.reasons if key not in known and key[1] != RULE]


def stored_reasons(target: Target) -> Reasons:
    """The reasons for those programs of a target that are the installed ones, byte for byte.

    Those for a game's programs are in its package, those for the referee in this one.
    """
    reasons: dict[Place, str] = {}
    for package in filter(None, (package_of(target.game.name), __package__)):
        reasons |= read_reasons(package, FILE, _File, Kind.REASONS, target.unchanged)
    return Reasons(reasons)


RULE = "rule"
"""Stands for the function in a reason why no case can break a rule."""


def rule_reasons(target: Target) -> frozenset[str]:
    """The rules that have a stored reason why no case breaks them: `function = "rule"`, and the
    rule's id among the `changes`."""
    if target.rules is None:
        return frozenset()
    known = stored_reasons(target).reasons
    return frozenset(change for _, function, change in known if function == RULE)


def _key(mutant: Mutant) -> Place:
    return mutant.validator, mutant.function, mutant.change
