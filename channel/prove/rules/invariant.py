"""The claim "holds": what the states of a game say of themselves stays true in play.

A state class may have a method `holds(self, amount) -> bool`: true of every state that play reaches
with this amount. It has to be true at the start, and of the state after each legal move from a
state in which it is true. All other claims are about states in which it is true.

Where proofs take the shapes of states one by one, it is undecided where a legal move leads to
another one than play has shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import AMOUNT, MOVE, coin_field, len_of, part
from channelsim.channel.prove.executor import Ending, Returned
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.move_sizes import HANDS
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.result import Verdict
from channelsim.channel.prove.rules.reading import has_invariant
from channelsim.channel.prove.rules.running import current
from channelsim.channel.prove.rules.side import Rules, followed
from channelsim.channel.prove.rules.standins.ints import condition_of, negated, number_of
from channelsim.channel.prove.rules.typed import States
from channelsim.channel.prove.shapes import KnownShapes
from channelsim.channel.prove.symbols import (
    ONE,
    Condition,
    Symbolic,
    Undecided,
    make_truth,
    truth_of,
)
from channelsim.clsp.run import Outcome, ProgramSlash, ProgramValid, Raised
from channelsim.clsp.values import Value, atom_to_int
from channelsim.games.amounts import counted
from channelsim.games.contract import Next, Valid


def invariants(target: Target) -> tuple[str, ...]:
    """The validators of a target with rules whose states have a `holds`."""
    known = target.game.validators.items()
    return tuple(name for name, validator in known if has_invariant(validator.form))


def check_start(target: Target) -> None:
    """Check that each `holds` is true in play. Raises `UsageError`."""
    names = invariants(target)
    for _, hand in zip(range(HANDS), hands(target, b"prove"), strict=False):
        for turn in hand:
            state: Any = turn.before.state
            if turn.before.validator in names and not state.holds(turn.amount):
                raise UsageError(
                    f"{target.name}: {type(state).__name__}.holds is false in a state that was"
                    f" played: {state} with an amount of {turn.amount}"
                )


@dataclass(frozen=True)
class HoldsAfter:
    """The answer of the state that the rules lead to: 1 where its `holds` is true, and else `()`;
    undecided where its shape is not known.

    Also 1 where the rules allow no such move. `longest` is the longest one in bytes that
    the referee lets through.
    """

    rules: Rules
    longest: int
    known: KnownShapes
    name: str = field(init=False, default="the rules")

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Judge the move on stand-ins, and ask the state that it leads to."""
        return followed(path, lambda: self._asked(environment))

    def _asked(self, environment: Symbolic) -> Ending:
        given: Any = environment
        step = self._after(self.rules.judged(environment), part(given, coin_field(MOVE)))
        if step is None:
            return Returned(ONE)
        if step.validator in self.known.shapes:
            self._check_shape(step)
        if not hasattr(step.state, "holds"):
            return Returned(ONE)
        amount = number_of(part(given, coin_field(AMOUNT)))
        return Returned(make_truth(condition_of(step.state.holds(amount))))

    def _check_shape(self, step: Next) -> None:
        """Check that a state has a known shape. Raises `Undecided`."""
        path, size = current(), int(step.max_move_size)
        state = States(self.rules.twins).value(step.state)
        if not path.branch(self.known.has(path, step.validator, state, size)):
            said = self.known.described(path, step.validator, state, size)
            raise Undecided(f"a state of {step.validator} whose shape no play has shown: {said}")

    def _after(self, verdict: Any, move: Any) -> Any:
        """What a legal move leads to; None if there is none, or the game ends."""
        if not isinstance(verdict, Valid) or len_of(move) > self.longest:
            return None
        return verdict.next

    def real(self, environment: Value) -> Outcome:
        """Judge the move for real, and ask the state that it leads to."""
        given: Any = environment
        try:
            verdict = self.rules.verdict(environment)
            step = self._after(verdict, part(given, coin_field(MOVE)))
            amount = atom_to_int(part(given, coin_field(AMOUNT)))
            asks = step is not None and hasattr(step.state, "holds")
            kept = not asks or bool(step.state.holds(amount))
        except Exception as error:
            return Raised(f"the rules raise {type(error).__name__}: {error}")
        return ProgramValid(ONE, 0) if kept else ProgramSlash(0)

    def place(self, node: Any) -> str:
        """The file and the line."""
        return self.rules.place(node)

    def constants(self) -> Iterator[int]:
        """None."""
        return iter(())


@dataclass(frozen=True)
class StaysTrue:
    """After each legal move from a state whose `holds` is true, that of the next one is."""

    target: Target
    validator: str
    longest: int
    known: KnownShapes

    name = "holds"
    verdicts: tuple[Verdict, Verdict] = ("proved", "refuted")
    needs: tuple[str, ...] = ("valid",)
    by_hand = True
    takes_ranges = True

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is only checked in play."""
        start = f"`holds` is true at the start: in {HANDS} hands it was"
        counts = [
            f"{counted(len(shapes), 'shape')} of {name}"
            for name, shapes in self.known.shapes.items()
        ]
        if not counts:
            return (start,)
        return start, f"the shapes at the start are known ones: {', '.join(counts)}"

    def sides(self) -> tuple[HoldsAfter]:
        """The rules, and the state that they lead to."""
        return (HoldsAfter(Rules(self.target, self.validator), self.longest, self.known),)

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of the validator."""
        return domain.environment(size, variables)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where the state after the move does not hold."""
        (ending,) = endings
        if not isinstance(ending, Returned):
            return True
        return negated(truth_of(path.atom(ending.value)))

    def is_broken(self, environment: Value) -> bool:
        """True if the state after the move does not hold in a real run."""
        (side,) = self.sides()
        return not isinstance(side.real(environment), ProgramValid)
