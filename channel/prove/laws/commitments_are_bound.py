"""Law: only the committed bytes open a commitment of the state.

Of each honest move that shows bytes whose hash is in the state, every move of its size with other
bytes there must be slashed. Not claimed of a size of which some honest move opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from channelsim.channel.findings.finding import PLAYED, UNSLASHABLE
from channelsim.channel.prove.arguments import MOVE, coin_field, part, replaced
from channelsim.channel.prove.collisions import ASSUMED, no_collisions
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
from channelsim.channel.prove.reruns import Run
from channelsim.channel.prove.symbols import Bytes, Condition, conjunction
from channelsim.clsp.values import Value

MINE = coin_field(MOVE)


@dataclass(frozen=True)
class OnlyTheCommittedBytes:
    """A move of the size of an honest one, with other bytes for those that it opens, is slashed."""

    subject: Subject
    moves: tuple[HonestMove, ...]

    name = "commitments are bound"
    severity = UNSLASHABLE
    reach = PLAYED
    verdicts = VERDICTS
    needs = ()

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        return (
            f"about the {source(self.subject.target, len(self.moves))} that open a commitment",
            ASSUMED,
        )

    def sides(self) -> tuple[Run, ...]:
        """The program with each piece of evidence, until one slashes."""
        return runs_with_pieces(self.subject.run, not_slashed)

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of each honest move of this size, with any other bytes."""
        inputs = domain.environment(size, variables)

        def call(move: HonestMove, number: int) -> tuple[Any, tuple[Condition, ...]]:
            changed, _ = inputs.any_of_size(f"move {number}", size)
            opened, committed = _opened(move, part(move.arguments, MINE))
            assert isinstance(changed, Bytes)
            start, end = opened
            high, low = 8 * (size - start) - 1, 8 * (size - end)
            other = z3.Extract(high, low, changed.term) != int.from_bytes(committed, "big")
            return with_pieces(replaced(move.arguments, MINE, changed), move), (other,)

        return honest_inputs(inputs, (move for move in self.moves if move.size == size), call)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where no evidence slashes, and some is taken."""
        if not legal_with_all(judged(path, ending) for ending in endings):
            return False
        return conjunction(*no_collisions(path.conditions, [*self._secrets(), *path.hashed]))

    def _secrets(self) -> Iterator[bytes]:
        """What is hashed to the commitments: the bytes, or these as a leaf of a tree hash."""
        for move in self.moves:
            _, committed = _opened(move, part(move.arguments, MINE))
            yield committed
            yield b"\x01" + committed

    def is_broken(self, environment: Value) -> bool:
        """True if no evidence slashes the other bytes in real runs."""
        if not any(_is_changed(environment, move) for move in self.moves):
            return False
        return legal_with_all(judged_really(side.real(environment)) for side in self.sides())

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens."""
        return (
            "the commitment that a move opens is not compared: the mover may show something else,"
            " and cannot be slashed",
        )


def _opened(move: HonestMove, shown: bytes) -> tuple[tuple[int, int], bytes]:
    """The bytes of a move that open a commitment, from and to, and these."""
    assert move.opened is not None
    start, end = move.opened
    return move.opened, shown[start:end]


def _is_changed(environment: Any, move: HonestMove) -> bool:
    """True if this is the honest move but for bytes of its move, some of those that it opens."""
    shown = part(environment, MINE)
    if len(shown) != move.size:
        return False
    if _opened(move, shown) == _opened(move, part(move.arguments, MINE)):
        return False
    return bool(environment == with_pieces(replaced(move.arguments, MINE, shown), move))


class CommitmentsAreBound:
    """Runs the program on moves with other bytes where honest ones open a commitment."""

    name = "commitments are bound"

    def claim(self, subject: Subject) -> OnlyTheCommittedBytes | str:
        """The claim about a validator."""
        optional = {move.size for move in subject.honest if move.opened is None}
        moves = tuple(move for move in subject.honest if move.size not in optional)
        if not moves:
            return "no honest move has to open a commitment of the state"
        return OnlyTheCommittedBytes(subject, moves)


LAW = CommitmentsAreBound()
