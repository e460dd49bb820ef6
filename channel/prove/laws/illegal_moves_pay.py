"""Law: every move can be judged: with some evidence, the program says that it is legal or not.

"A slash that raises for some evidence succeeds for other" is false of right programs, since no
evidence slashes a legal move. But a move on which the program raises for all evidence is neither
legal nor can it be slashed: a raise protects its mover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from channelsim.channel.findings.finding import NOBODY_KNOWS, THEFT
from channelsim.channel.prove.all_values import every_value
from channelsim.channel.prove.arguments import EVIDENCE, STATE, replaced
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.honest_moves import PIECES
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.judged import Fails, Judged, judged, judged_really
from channelsim.channel.prove.laws import VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.reruns import Run, plain
from channelsim.channel.prove.symbols import Condition, Undecided
from channelsim.clsp.values import NIL, Value

NEEDED = (
    "the program raises on a move, but for some evidence that play does not hold; whether its"
    " opponent holds it, only rules can say"
)
SHAPE = "the program raises in some state, of which nothing says that play can reach it"
UNSURE = "the program raises on a move, perhaps for all evidence"


@dataclass(frozen=True)
class EveryMoveIsJudged:
    """Of each move, some evidence makes the program say whether it is legal.

    `pieces` are evidence to try; where all of it fails, every evidence within the bounds is.
    """

    subject: Subject
    pieces: tuple[Value, ...]

    name = "illegal moves pay"
    severity = THEFT
    reach = NOBODY_KNOWS
    verdicts = VERDICTS
    needs = ()

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        return (
            "a challenger holds `()` and the evidence of honest play; without rules, that an"
            " illegal move is slashed, and not taken for legal, cannot be said",
            *self.subject.assumes,
        )

    def sides(self) -> tuple[Run, ...]:
        """The program with each piece of evidence, while it fails."""
        runs: list[Run] = []
        for number, evidence in enumerate(self.pieces):
            name = f"evidence {number}" if number else ""
            before = runs[-1] if runs else None
            change = partial(_with_evidence, evidence=evidence)
            runs.append(self.subject.run(name, change, before, _fails))
        return tuple(runs)

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of the validator, with a move that the referee takes."""
        return self.subject.inputs(domain, size, variables)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where every piece of evidence fails."""
        if not all(_fails(judged(path, ending)) for ending in endings):
            return False
        if self._is_shapeless and any(name.startswith("state") for name in path.decided):
            raise Undecided(SHAPE)
        return True

    @property
    def _is_shapeless(self) -> bool:
        """True if nothing is known of the states."""
        return self.subject.target.rules is None and not self.subject.states

    def is_broken(self, environment: Value) -> bool:
        """True if every piece of evidence within the bounds fails. Raises `Undecided`."""
        if not self.subject.is_known(environment):
            return False
        if not all(_fails(judged_really(side.real(environment))) for side in self.sides()):
            return False
        free = (EVIDENCE, STATE) if self._is_shapeless else (EVIDENCE,)
        bounds = self.subject.pairs, self.subject.atom
        answer = every_value(self.subject.program, plain(environment), free, _fails, *bounds)
        if self._is_shapeless and answer is not True:
            return False  # in another state
        if answer is None:
            raise Undecided(UNSURE)
        if answer is not True:
            raise Undecided(NEEDED)
        return True

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens."""
        return (
            "the program raises on this move, whatever the evidence: it is not legal, and its slash"
            " fails",
        )


def _fails(ended: Judged) -> bool:
    return isinstance(ended, Fails)


def _with_evidence(environment: Any, evidence: Value) -> Any:
    return plain(replaced(environment, EVIDENCE, evidence))


class IllegalMovesPay:
    """Runs the program with the evidence of honest play, and where that fails with any."""

    name = "illegal moves pay"

    def claim(self, subject: Subject) -> EveryMoveIsJudged:
        """The claim about a validator."""
        held = (piece for move in subject.honest for piece in (*move.pieces, move.taken_with))
        pieces = tuple(dict.fromkeys((NIL, *held)))[: PIECES + 1]
        return EveryMoveIsJudged(subject, pieces)


LAW = IllegalMovesPay()
