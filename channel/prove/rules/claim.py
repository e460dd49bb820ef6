"""The claim "rules": a program obeys the Python rules of its validator on every input.

Rules and program agree where the referee makes no difference between what they say, as in
`crosscheck`: at the end of a game, missing items of the result count as `()`; and what the rules
allow does not matter where the referee lets no such move through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import MOVE, coin_field, part
from channelsim.channel.prove.claims import Claim
from channelsim.channel.prove.concrete_runs import differ
from channelsim.channel.prove.equality import difference, unequal
from channelsim.channel.prove.executor import Ending, Returned, SymbolicProgram
from channelsim.channel.prove.inputs import MOST_SIZE, Domain, Inputs, Variables
from channelsim.channel.prove.lemma import lemmas_of
from channelsim.channel.prove.move_sizes import sizes_in_play
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.result import Verdict
from channelsim.channel.prove.rules.invariant import StaysTrue, check_start, invariants
from channelsim.channel.prove.rules.lemma_claim import lemma_claims
from channelsim.channel.prove.rules.own_reading import has_own_rules
from channelsim.channel.prove.rules.side import Rules
from channelsim.channel.prove.symbols import Condition, Symbolic
from channelsim.clsp.run import ProgramValid
from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.contract import Slash, Valid
from channelsim.games.errors import BadState

END: Value = to_list([NIL, NIL, NIL])
"""The result of a move that ends the game, as the rules have it."""


@dataclass(frozen=True)
class ObeysRules:
    """A program and the Python rules of its validator say the same of every move.

    `longest` is the longest move in bytes that the referee lets through.
    """

    target: Target
    validator: str
    longest: int

    name = "rules"
    verdicts: tuple[Verdict, Verdict] = ("proved", "refuted")
    assumes: tuple[str, ...] = ()
    by_hand = True
    """Fields with a form that is written by hand are any value that their reader takes."""
    needs: tuple[str, ...] = ("valid", "slash")

    def sides(self) -> tuple[SymbolicProgram, Rules]:
        """The program, and the rules."""
        program = self.target.programs[self.validator]
        return (
            SymbolicProgram(self.target.name, program, lemmas_of(self.target.rules)),
            Rules(self.target, self.validator),
        )

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of the validator."""
        return domain.environment(size, variables)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where rules and program disagree."""
        ran, ruled = endings
        size = len_of(part(inputs.environment, coin_field(MOVE)))
        if size > self.longest and not (isinstance(ruled, Returned) and ruled.value == NIL):
            return False
        if isinstance(ran, Returned) and isinstance(ruled, Returned) and ruled.value == END:
            return unequal(path, _filled(path, ran.value), END)
        return difference(path, ran, ruled)

    def is_broken(self, environment: Value) -> bool:
        """True if rules and program disagree in real runs, or the rules raise."""
        program, rules = self.sides()
        try:
            verdict = rules.verdict(environment)
        except BadState:
            return False
        except Exception:
            return True
        given: Any = environment
        size = len(part(given, coin_field(MOVE)))
        if size > self.longest and not isinstance(verdict, Slash):
            return False
        ran, ruled = program.real(environment), rules.real(environment)
        ends = isinstance(verdict, Valid) and verdict.next is None and not verdict.conditions
        if ends and isinstance(ran, ProgramValid):
            return ran.value not in _ENDS
        return differ(ran, ruled)


_ENDS = (END, to_list([NIL, NIL]), to_list([NIL]))


def claims_of_rules(target: Target, validator: str) -> tuple[Claim, ...]:
    """The claims about a validator and its rules; none where there are no rules.

    Raises `UsageError` for a `holds` of a state that is false in play.
    """
    if target.rules is None and not has_own_rules(target, validator):
        return ()
    limits, _ = sizes_in_play(target, validator)
    longest = max(limits, default=MOST_SIZE)
    obeys = ObeysRules(target, validator, longest)
    lemmas = tuple(lemma_claims(target, validator, lemmas_of(target.rules)))
    if target.rules is None or not invariants(target):
        return (obeys, *lemmas)
    check_start(target)
    return (obeys, StaysTrue(target, validator, longest), *lemmas)


def len_of(move: Any) -> int:
    """The bytes of a move, symbolic or not."""
    return len(move) if isinstance(move, bytes) else move.size


def _filled(path: Path, result: Symbolic) -> Symbolic:
    """A result with the items that are missing at its end."""
    items: list[Any] = []
    rest = path.shape(result)
    while isinstance(rest, tuple) and len(items) < 3:
        items.append(rest[0])
        rest = path.shape(rest[1])
    if items and rest == NIL and len(items) < 3:
        return to_list([*items, *[NIL] * (3 - len(items))])
    return result
