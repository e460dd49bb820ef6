"""Draws: which cards a player replaces, and the positions that it gets.

Rules: DRAW-2, DRAW-4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from channelsim.games.poker.first import First
from channelsim.games.poker.openings import is_own
from channelsim.games.poker.states import Held, Owed, Seats, Street


@dataclass(frozen=True, slots=True)
class Replaced:
    """The mover's hand without its discards, and the openings of its new cards, which the waiter
    owes."""

    kept: Held
    pending: tuple[Owed, ...]


def replaced(held: Held, mask: bytes, draw: Street, seats: Seats) -> Replaced | None:
    """Replace the cards of the hand whose bits are set; None for a mask beyond the hand."""
    number = int.from_bytes(mask, "big")
    if len(mask) != 1 or number >> len(held):
        return None
    kept = tuple(card for at, card in enumerate(held) if not number >> at & 1)
    own = [(position, who) for position, who in draw.deal if is_own(who, seats)]
    drawn = own[: number.bit_count()]
    return Replaced(kept, tuple(Owed(position, who, b"") for position, who in drawn))


def with_bettor(streets: Sequence[Street], raises: int, seats: Seats) -> tuple[Street, ...]:
    """The streets after a draw; where who bet first begins, its seat is written.

    Bets and raises alternate: the mover, who calls, made every second one.
    """
    if not streets or streets[0].first != First.BETTOR:
        return tuple(streets)
    bettor = (raises + seats.button) % 2
    first, *others = streets
    return structs.replace(first, first=bettor), *others
