"""Law: a move of honest play cannot declare less for the opponent.

Honest play leaves the opponent no more than it must, so of each honest move every smaller share has
to be slashed by evidence that play holds. Not claimed where the share may be the move itself: the
move is empty, or play has it with different shares; nor where the program reads evidence and play
holds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channelsim.channel.findings.finding import PLAYED, THEFT
from channelsim.channel.lab.cases.mutator import SHAPES
from channelsim.channel.prove.arguments import EVIDENCE, SHARE, coin_field, part, replaced
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.honest_moves import (
    HonestMove,
    honest_inputs,
    runs_with_pieces,
    source,
    with_pieces,
)
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.judged import judged, judged_really, legal_with_all, not_slashed
from channelsim.channel.prove.laws import VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.reruns import Run, plain
from channelsim.channel.prove.symbols import Condition
from channelsim.clsp.run import run
from channelsim.clsp.values import NIL, Value, atom_to_int

DECLARED = coin_field(SHARE)


@dataclass(frozen=True)
class NoSmallerShare:
    """Some evidence of play slashes an honest move that declares a smaller share."""

    subject: Subject
    moves: tuple[HonestMove, ...]

    name = "shares are bound"
    severity = THEFT
    reach = PLAYED
    verdicts = VERDICTS
    needs = ()

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        return (
            f"about the {source(self.subject.target, len(self.moves))} only",
            "honest play leaves the opponent no more than it must",
        )

    def sides(self) -> tuple[Run, ...]:
        """The program with each piece of evidence, until one slashes."""
        return runs_with_pieces(self.subject.run, not_slashed)

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of each honest move of this size, with every smaller share."""
        inputs = domain.environment(size, variables)

        def call(move: HonestMove, number: int) -> tuple[Any, tuple[Condition, ...]]:
            share, bounds = inputs.number(f"share {number}", 0, move.share - 1)
            return with_pieces(replaced(move.arguments, DECLARED, share), move), bounds

        return honest_inputs(inputs, (move for move in self.moves if move.size == size), call)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where no evidence slashes, and some is taken."""
        return legal_with_all(judged(path, ending) for ending in endings)

    def is_broken(self, environment: Value) -> bool:
        """True if no evidence slashes the smaller share in real runs."""
        if not any(_is_smaller(environment, move) for move in self.moves):
            return False
        return legal_with_all(judged_really(side.real(environment)) for side in self.sides())

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens."""
        return (
            "an honest move may declare less for the opponent than honest play leaves it: the mover"
            " keeps the rest, and cannot be slashed",
        )


def _is_smaller(environment: Any, move: HonestMove) -> bool:
    """True if this is the honest move but for a smaller share."""
    share = part(environment, DECLARED)
    if not 0 <= atom_to_int(share) < move.share:
        return False
    return bool(environment == with_pieces(replaced(move.arguments, DECLARED, share), move))


class SharesAreBound:
    """Runs the program on honest moves with smaller shares."""

    name = "shares are bound"

    def claim(self, subject: Subject) -> NoSmallerShare | str:
        """The claim about a validator."""
        moves = tuple(
            move
            for move in subject.honest
            if move.size and move.share and not move.free and not _needs_evidence(subject, move)
        )
        if not moves:
            return "no honest move whose share could be smaller, and must not be, is known"
        return NoSmallerShare(subject, moves)


def _needs_evidence(subject: Subject, move: HonestMove) -> bool:
    """True if the program looks at evidence, and play holds none against this move."""
    if set(move.pieces) != {NIL}:
        return False
    calls = (replaced(move.arguments, EVIDENCE, value) for value in (NIL, *dict(SHAPES)))
    return len({type(run(subject.program, plain(call))) for call in calls}) > 1


LAW = SharesAreBound()
