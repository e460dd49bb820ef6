"""The openings in a move, and the cards that a draw replaces.

Openings are bytes that open locks and claim cards, in the order of what is due. Every function
returns None for bytes that do not open what they must. Rules of draws: DRAW-2, DRAW-4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from channelsim.games.deck.openings import is_card, is_opening
from channelsim.games.poker.limits import First
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS,
    BUTTONS_UP,
    OTHERS,
    OTHERS_UP,
    Held,
    Kind,
    Known,
    Lock,
    Owed,
    Seats,
    Street,
    Table,
)

# --- openings -----------------------------------------------------------------------------------


SCALAR, OPENING = 32, 33
"""Bytes of a lock's opening, and of one with the card that it shows."""


def is_own(who: int, seats: Seats) -> bool:
    """True if a card is private to the mover."""
    return who == (BUTTONS if seats.button else OTHERS)


def owed_locks(deal: Sequence[tuple[int, int]], seats: Seats) -> int:
    """How many locks the mover opens when these cards are dealt: all but those of its own cards."""
    return sum(not is_own(who, seats) for _, who in deal)


def dealt_by_call(streets: Sequence[Street], all_in: bool) -> tuple[tuple[int, int], ...]:
    """What is dealt when a call ends the first of these streets.

    That is the next betting round's cards, or those of all rounds if both players are all-in. A
    draw deals nothing before somebody draws.
    """
    later = streets[1:]
    if not later or later[0].kind != Kind.BET:
        return ()
    return tuple(card for street in (later if all_in else later[:1]) for card in street.deal)


def pending_size(pending: Sequence[Owed]) -> int:
    """The bytes that open what the mover owes."""
    return sum(OPENING if owed.scalar else SCALAR for owed in pending)


def opens(table: Table, position: int, seats: Seats, scalar: bytes) -> bool:
    """True if a scalar opens the mover's lock of a position (PD-13)."""
    lock = table.locks[position]
    return is_opening(lock.initiators_key if seats.initiator else lock.receivers_key, scalar)


def shows(table: Table, position: int, mine: bytes, theirs: bytes, card: bytes) -> bool:
    """True if the card at a position is the one that a byte names (PD-14)."""
    lock: Lock = table.locks[position]
    return len(card) == 1 and is_card(table.deck_id, lock.point, mine, theirs, card[0])


def dealt(
    table: Table, deal: Sequence[tuple[int, int]], seats: Seats, data: bytes
) -> tuple[tuple[tuple[int, bytes], ...], tuple[Owed, ...]] | None:
    """Open the mover's locks of a deal: what the waiter then holds, and what it owes.

    None if a scalar does not open its lock.
    """
    held: list[tuple[int, bytes]] = []
    pending: list[Owed] = []
    at = 0
    for position, who in deal:
        if is_own(who, seats):
            pending.append(Owed(position, who, b""))
            continue
        scalar = data[at : at + SCALAR]
        at += SCALAR
        if not opens(table, position, seats, scalar):
            return None
        if who in (OTHERS, BUTTONS):
            held.append((position, scalar))
        else:
            pending.append(Owed(position, who, scalar))
    return tuple(held), tuple(pending)


def locks_open(table: Table, pending: Sequence[Owed], seats: Seats, data: bytes) -> bool:
    """True if all that the mover owes is opened."""
    at = 0
    for owed in pending:
        if not opens(table, owed.position, seats, data[at : at + SCALAR]):
            return False
        at += OPENING if owed.scalar else SCALAR
    return True


def taken(
    table: Table, pending: Sequence[Owed], seats: Seats, known: Known, data: bytes
) -> Known | None:
    """The cards after the mover opened what it owes; None if it claims a card that is another."""
    waiters: list[tuple[int, bytes]] = []
    open_cards: dict[int, list[tuple[int, int]]] = {BOARD: [], OTHERS_UP: [], BUTTONS_UP: []}
    at = 0
    for owed in pending:
        scalar = data[at : at + SCALAR]
        at += SCALAR
        if not owed.scalar:
            waiters.append((owed.position, scalar))
            continue
        card = data[at : at + 1]
        at += 1
        if not shows(table, owed.position, scalar, owed.scalar, card):
            return None
        open_cards[owed.who].append((owed.position, card[0]))
    own, other = (BUTTONS_UP, OTHERS_UP) if seats.button else (OTHERS_UP, BUTTONS_UP)
    return Known(
        known.movers,
        (*known.waiters, *waiters),
        (*known.movers_up, *open_cards[own]),
        (*known.waiters_up, *open_cards[other]),
        (*known.board, *(card for _, card in open_cards[BOARD])),
    )


# --- draws: which cards a player replaces, and the positions that it gets -----------------------


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
