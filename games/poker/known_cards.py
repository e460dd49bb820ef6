"""The cards that one player knows: those that the opponent has opened or shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from channelsim.games.contract import Position, Seat
from channelsim.games.deck.group import real_group
from channelsim.games.deck.openings import card_behind
from channelsim.games.poker.arranging import in_order
from channelsim.games.poker.openings import OPENING, SCALAR
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS_UP,
    OTHERS_UP,
    Begin,
    Commit,
    Draw,
    End,
    Mid,
    Rows,
    Score,
    Show,
    Table,
)


@dataclass(frozen=True, slots=True)
class KnownCards:
    """Cards by number, in the order of the deal: private ones, open ones, and the board.

    The opponent's private cards are unknown until it shows them.
    """

    own: tuple[int, ...] = ()
    others: tuple[int, ...] = ()
    own_up: tuple[int, ...] = ()
    others_up: tuple[int, ...] = ()
    board: tuple[int, ...] = ()


NO_CARDS = KnownCards()
"""What a player knows before the deal."""


class NoCard(ValueError):
    """A position holds none of the 52 cards: the preparation let a cheat pass."""


def card(table: Table, position: int, mine: bytes, theirs: bytes) -> int:
    """The card at a position, from the scalars of both locks. Raises `NoCard`."""
    both = int.from_bytes(mine, "big") * int.from_bytes(theirs, "big") % real_group().order
    number = card_behind(table.deck_id, table.locks[position].point, both)
    if number is None:
        raise NoCard("a position of the deck holds none of the 52 cards")
    return number


def known_cards(
    before: KnownCards, locks: tuple[bytes, ...], position: Position, seat: Seat
) -> KnownCards:
    """The cards that a seat with these locks knows at a position, if it knew `before` earlier."""
    state = position.state
    is_mover = position.mover is seat
    match state:
        case Begin() | Mid() | Draw() | Show():
            table, known = state.table, state.known
        case End(table=table):
            if not is_mover:
                return before
            held = _held(table, locks, state.held)
            private = len(state.shown) - len(state.open)
            shown = state.shown
            return KnownCards(held, shown[:private], state.open, shown[private:], state.board)
        case Commit() | Rows() if is_mover:
            return KnownCards(_held(state.table, locks, state.held))
        case Score() if is_mover:
            return KnownCards(_held(state.table, locks, state.held), state.shown)
        case _:
            return before
    seen = known if is_mover else known.swapped
    # The waiter has opened its locks of the open cards that the mover is to claim.
    due = state.pending if is_mover and not isinstance(state, Mid) else ()
    new = [
        (owed.who, card(table, owed.position, locks[owed.position], owed.scalar))
        for owed in due
        if owed.scalar
    ]
    own_up, others_up = (
        (BUTTONS_UP, OTHERS_UP) if state.seats.button == is_mover else (OTHERS_UP, BUTTONS_UP)
    )
    return KnownCards(
        _held(table, locks, seen.movers),
        before.others,
        (*(number for _, number in seen.movers_up), *_of(new, own_up)),
        (*(number for _, number in seen.waiters_up), *_of(new, others_up)),
        (*seen.board, *_of(new, BOARD)),
    )


def shown_last(before: Position, move: bytes, cards: KnownCards) -> KnownCards:
    """The cards that the waiter knows after the move that ends a showdown."""
    state = before.state
    if not isinstance(state, End | Score):
        return cards
    size = OPENING * len(state.held)
    shown = tuple(move[at + SCALAR] for at in range(0, size, OPENING))
    if isinstance(state, Score):
        order = move[size : size + len(state.held)]
        shown = in_order(state.held, shown, order) or shown
    return KnownCards(cards.own, shown, cards.own_up, cards.others_up, cards.board)


def _of(new: Iterable[tuple[int, int]], who: int) -> Iterable[int]:
    return (number for kind, number in new if kind == who)


def _held(
    table: Table, locks: tuple[bytes, ...], held: Iterable[tuple[int, bytes]]
) -> tuple[int, ...]:
    return tuple(card(table, at, locks[at], scalar) for at, scalar in held)
