"""The states of the poker validators, for every game that is played with a prepared deck.

The *mover* makes the next move, the *waiter* is its opponent. Amounts are in chips of `unit` mojos.
A *position* is a place in the deck. `read` takes the CLVM form and raises `BadState` for any other
shape. Nothing here says which game it is: the schedule and the ranking do.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.deck.terms import CARDS
from channelsim.games.errors import BadState
from channelsim.games.poker.limits import Forced, Structure
from channelsim.games.states import Bytes32, Form, PlainState, atom, integer

OTHERS, BUTTONS, BOARD, OTHERS_UP, BUTTONS_UP = range(5)
"""Whose card is dealt: private to the other seat or to the button, shared, or open."""

Chips: TypeAlias = Annotated[int, integer(0, MAX_AMOUNT)]
Flag: TypeAlias = Annotated[int, integer(0, 1)]
Position: TypeAlias = Annotated[int, integer(0, CARDS - 1)]
Who: TypeAlias = Annotated[int, integer(OTHERS, BUTTONS_UP)]
Point: TypeAlias = Annotated[bytes, atom(48)]


def several(one: Form) -> Form:
    """The form of a tuple: a proper list of at most 52 items."""

    def read(value: Value, name: str) -> tuple[Any, ...]:
        found: list[Any] = []
        while isinstance(value, tuple) and len(found) < CARDS:
            found.append(one.read(value[0], name))
            value = value[1]
        if value != NIL:
            raise BadState(f"{name}: not a list of at most {CARDS} items")
        return tuple(found)

    return Form(lambda items: to_list(map(one.write, items)), read)


def pair(first: Form, second: Form) -> Form:
    """The form of a pair."""

    def read(value: Value, name: str) -> tuple[Any, Any]:
        if not isinstance(value, tuple):
            raise BadState(f"{name}: not a pair")
        return first.read(value[0], name), second.read(value[1], name)

    return Form(lambda both: (first.write(both[0]), second.write(both[1])), read)


def optional(form: Form) -> Form:
    """The form of a value that may be missing, as `()`: empty bytes."""
    return Form(
        lambda data: form.write(data) if data else NIL,
        lambda value, name: b"" if value == NIL else form.read(value, name),
    )


def nested(cls: type[PlainState]) -> Form:
    """The form of a record inside a state."""
    return Form(lambda record: record.value(), lambda value, name: cls.read(value))


_POSITION = integer(0, CARDS - 1)
_CARD = Form(lambda card: bytes((card,)), lambda value, name: _read_card(value, name))


def _read_card(value: Value, name: str) -> int:
    if not isinstance(value, bytes) or len(value) != 1 or value[0] >= CARDS:
        raise BadState(f"{name}: no card")
    return value[0]


Cards: TypeAlias = Annotated[tuple[int, ...], several(_CARD)]
"""Cards that both players know, each a raw byte."""

OpenCards: TypeAlias = Annotated[tuple[tuple[int, int], ...], several(pair(_POSITION, _CARD))]
"""Open cards with their positions."""

Held: TypeAlias = Annotated[tuple[tuple[int, bytes], ...], several(pair(_POSITION, atom(32)))]
"""Private cards in the order of the deal: the position, and the scalar of the opponent's lock."""

Dealt: TypeAlias = Annotated[
    tuple[tuple[int, int], ...], several(pair(_POSITION, integer(OTHERS, BUTTONS_UP)))
]
"""What a street deals: positions, and whose card each is."""


class Lock(PlainState, frozen=True):
    """A position of the deck. CLVM: `(point initiators_key receivers_key)`."""

    point: Point
    initiators_key: Point
    receivers_key: Point


class Street(PlainState, frozen=True):
    """A betting round. CLVM: `(first size deal)`.

    `first` is 1 if the button acts first, `size` the smallest bet, `deal` the cards before it.
    """

    first: Flag
    size: Chips
    deal: Dealt


Streets: TypeAlias = Annotated[tuple[Street, ...], several(nested(Street))]
"""The streets that are left, the current one first."""


class Table(PlainState, frozen=True):
    """What stays the same during a hand. CLVM: `(deck_id locks unit stake structure cap bring_in)`.

    `unit` is a chip in mojos, `stake` the chips of each player.
    """

    deck_id: Bytes32
    locks: Annotated[tuple[Lock, ...], several(nested(Lock))]
    unit: Annotated[int, integer(1, MAX_AMOUNT)]
    stake: Annotated[int, integer(1, MAX_AMOUNT)]
    structure: Annotated[int, integer(min(Structure), max(Structure))]
    cap: Annotated[int, integer(0, 255)]
    bring_in: Chips


class Seats(PlainState, frozen=True):
    """Who the mover is. CLVM: `(button initiator)`, 1 if the mover has the button, and if it is the
    channel's initiator."""

    button: Flag
    initiator: Flag

    @property
    def swapped(self) -> Seats:
        """The same for the waiter."""
        return Seats(1 - self.button, 1 - self.initiator)


class Known(PlainState, frozen=True):
    """The cards. CLVM: `(movers waiters movers_up waiters_up board)`."""

    movers: Held
    waiters: Held
    movers_up: OpenCards
    waiters_up: OpenCards
    board: Cards

    @property
    def swapped(self) -> Known:
        """The same, seen from the waiter."""
        return Known(self.waiters, self.movers, self.waiters_up, self.movers_up, self.board)


class Owed(PlainState, frozen=True):
    """A lock that the mover owes. CLVM: `(position who scalar)`.

    `scalar` is the waiter's, of an open card; it is empty for a private card of the waiter.
    """

    position: Position
    who: Who
    scalar: Annotated[bytes, optional(atom(32))]


Pending: TypeAlias = Annotated[tuple[Owed, ...], several(nested(Owed))]


class Pot(PlainState, frozen=True):
    """What both have in the pot, in chips. CLVM: `(mover waiter)`."""

    mover: Chips
    waiter: Chips


class Deal(PlainState, frozen=True):
    """The opener opens what it owes of the first street.

    CLVM: `(table streets pot forced seats)`.
    """

    table: Annotated[Table, nested(Table)]
    streets: Streets
    pot: Annotated[Pot, nested(Pot)]
    forced: Annotated[int, integer(min(Forced), max(Forced))]
    seats: Annotated[Seats, nested(Seats)]


class Begin(PlainState, frozen=True):
    """A street begins: the mover opens what it owes, and bets or checks if it is first to act.

    CLVM: `(table streets pot forced known pending seats mid_hash)`.
    """

    table: Annotated[Table, nested(Table)]
    streets: Streets
    pot: Annotated[Pot, nested(Pot)]
    forced: Annotated[int, integer(min(Forced), max(Forced))]
    known: Annotated[Known, nested(Known)]
    pending: Pending
    seats: Annotated[Seats, nested(Seats)]
    mid_hash: Bytes32


class Mid(PlainState, frozen=True):
    """The mover answers a bet, a raise or a check: it raises, or calls and opens what it owes.

    CLVM: `(table streets pot last raises forced known seats)`.
    """

    table: Annotated[Table, nested(Table)]
    streets: Streets
    pot: Annotated[Pot, nested(Pot)]
    last: Chips
    raises: Annotated[int, integer(0, 1 << 30)]
    forced: Annotated[int, integer(min(Forced), max(Forced))]
    known: Annotated[Known, nested(Known)]
    seats: Annotated[Seats, nested(Seats)]


class Show(PlainState, frozen=True):
    """The mover opens the last cards, and all of its own.

    CLVM: `(table put known pending seats)`; `put` is what each player has in the pot.
    """

    table: Annotated[Table, nested(Table)]
    put: Chips
    known: Annotated[Known, nested(Known)]
    pending: Pending
    seats: Annotated[Seats, nested(Seats)]


class End(PlainState, frozen=True):
    """The mover shows its cards and takes its part of the pot.

    CLVM: `(table put held open shown board initiator)`: the mover's private and open cards, all
    that the waiter showed, and whether the mover is the channel's initiator.
    """

    table: Annotated[Table, nested(Table)]
    put: Chips
    held: Held
    open: Cards
    shown: Cards
    board: Cards
    initiator: Flag
