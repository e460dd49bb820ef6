"""The money of a game: the pot, and what each player has left of its stake."""

from __future__ import annotations

from channelsim.games.betting_story import Money
from channelsim.games.contract import Position, Seat, Terms
from channelsim.games.spacepoker.states import BeginRound, End, MidRound


def money(terms: Terms, position: Position) -> Money:
    """The money at a position of a game that is not over.

    Before Bob's commitment the pot is empty. In the betting the mover has half_pot in it, and the
    waiter the last raise beyond that.
    """
    mover = waiter = 0
    match position.state:
        case BeginRound(half_pot=half_pot) | End(half_pot=half_pot):
            mover = waiter = half_pot
        case MidRound(half_pot=half_pot, last_raise=last_raise):
            mover, waiter = half_pot, half_pot + last_raise
    alice, bob = (mover, waiter) if position.mover is Seat.ALICE else (waiter, mover)
    return Money((alice, bob), (terms.stakes[0] - alice, terms.stakes[1] - bob))
