"""The states of the five validators."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from channelsim.games.contract import ByteIn, Bytes32, Integer, ListOf, PlainState
from channelsim.games.errors import BadState
from seabattle.board import CELLS

SHOTS = 4
"""The shots of each player."""

_CELL = ByteIn(range(CELLS), f"a cell below {CELLS}")

Fired: TypeAlias = Annotated[tuple[int, ...], ListOf(_CELL, SHOTS)]
"""Cells that a player has shot at, the newest first."""

AllFired: TypeAlias = Annotated[tuple[int, ...], ListOf(_CELL, SHOTS, SHOTS)]
"""All four shots of a player, the newest first."""


class Committing(PlainState, frozen=True):
    """Alice's root is next. CLVM: `()`."""


class Joining(PlainState, frozen=True):
    """Bob's root and his first shot are next. CLVM: the atom `alice`, her root."""

    alice: Bytes32


class Turn(PlainState, frozen=True):
    """An answer and a shot are next. CLVM: `(ours theirs fired incoming)`.

    `ours` and `fired` are the root and the shots of the player whose turn it is, `theirs` and
    `incoming` those of its opponent. Bob, who shoots first, has fired once more than Alice
    before each turn of hers.
    """

    ours: Bytes32
    theirs: Bytes32
    fired: Fired
    incoming: Fired

    def check_fields(self) -> None:
        """Refuse a number of shots that no play leads to, and two shots at one cell."""
        _check_shots(self.fired, self.incoming)
        more = len(self.incoming) - len(self.fired)
        if more not in (0, 1) or not self.incoming or len(self.fired) == SHOTS:
            raise BadState("fired, incoming: not the shots before a turn")


class Showing(PlainState, frozen=True):
    """Bob's board is next. CLVM: `(ours theirs fired incoming)`, as before a turn of his."""

    ours: Bytes32
    theirs: Bytes32
    fired: AllFired
    incoming: AllFired

    def check_fields(self) -> None:
        """Refuse two shots at one cell."""
        _check_shots(self.fired, self.incoming)


class Finishing(PlainState, frozen=True):
    """Alice's board is next. CLVM: `(alice incoming scored)`.

    Her root, Bob's shots, and how many of hers hit a ship.
    """

    alice: Bytes32
    incoming: AllFired
    scored: Annotated[int, Integer(0, SHOTS)]

    def check_fields(self) -> None:
        """Refuse two shots at one cell."""
        _check_shots(self.incoming)


def _check_shots(*players: tuple[int, ...]) -> None:
    if any(len(set(shots)) < len(shots) for shots in players):
        raise BadState("two shots at one cell")
