"""The states of the poker validators, for every game that is played with a prepared deck.

The *mover* makes the next move, the *waiter* is its opponent. Amounts are in chips of `unit` mojos.
A *position* is a place in the deck. `read` takes the CLVM form and raises `BadState` for any other
shape. Nothing here says which game it is: the schedule and the ranking do.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any, TypeAlias

from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.deck.terms import CARDS
from channelsim.games.errors import BadState
from channelsim.games.poker.first import First
from channelsim.games.poker.limits import Forced, Structure
from channelsim.games.poker.ranking import RANKINGS
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


class Kind(IntEnum):
    """What happens on a street; the numbers are those in a state.

    `OPENED_DRAW`: a draw, if somebody bet before it; otherwise the hand is passed out.
    """

    BET = 0
    DRAW = 1
    OPENED_DRAW = 2
    ARRANGE = 3


class Street(PlainState, frozen=True):
    """A betting round, a draw or an arrangement. CLVM: `(first size deal kind)`.

    `first` says who acts or draws first (`First`). `size` is the smallest bet, or what a point is
    worth. `deal` are the cards before the betting; those of a draw are dealt as they are wanted.
    """

    first: Annotated[int, integer(min(First), max(First))]
    size: Chips
    deal: Dealt
    kind: Annotated[int, integer(min(Kind), max(Kind))]


Streets: TypeAlias = Annotated[tuple[Street, ...], several(nested(Street))]
"""The streets that are left, the current one first."""


class Showdown(PlainState, frozen=True):
    """How hands are selected and compared. CLVM: `(mask_size ranking low)`.

    `mask_size` is the size of a selection: 0 for hands of five cards, 1 for five of seven, 2 for
    two of four own and three of five shared cards. `ranking` is the number of a ranking. Half of
    the pot goes to the lowest hand, in the order ace to five, whose key is less than `low`; 0 where
    there is no such half.
    """

    mask_size: Annotated[int, integer(0, 2)]
    ranking: Annotated[int, integer(0, len(RANKINGS) - 1)]
    low: Annotated[int, integer(0, 1 << 24)]

    @property
    def masks(self) -> int:
        """The bytes of a player's selections."""
        return self.mask_size * (2 if self.low else 1)


class Table(PlainState, frozen=True):
    """What stays the same during a hand.

    CLVM: `(deck_id locks unit stake structure cap bring_in showdown)`. `unit` is a chip in mojos,
    `stake` the chips of each player.
    """

    deck_id: Bytes32
    locks: Annotated[tuple[Lock, ...], several(nested(Lock))]
    unit: Annotated[int, integer(1, MAX_AMOUNT)]
    stake: Annotated[int, integer(1, MAX_AMOUNT)]
    structure: Annotated[int, integer(min(Structure), max(Structure))]
    cap: Annotated[int, integer(0, 255)]
    bring_in: Chips
    showdown: Annotated[Showdown, nested(Showdown)]


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

    CLVM: `(table streets pot last raises brought_in known seats)`; `brought_in` is 1 while only a
    bring-in is in front.
    """

    table: Annotated[Table, nested(Table)]
    streets: Streets
    pot: Annotated[Pot, nested(Pot)]
    last: Chips
    raises: Annotated[int, integer(0, 1 << 30)]
    brought_in: Flag
    known: Annotated[Known, nested(Known)]
    seats: Annotated[Seats, nested(Seats)]


class Draw(PlainState, frozen=True):
    """The mover opens what the waiter has drawn, and says which of its own cards it replaces.

    CLVM: `(table streets put known pending seats mid_hash)`. The first street is the draw; `put` is
    what each player has in the pot.
    """

    table: Annotated[Table, nested(Table)]
    streets: Streets
    put: Chips
    known: Annotated[Known, nested(Known)]
    pending: Pending
    seats: Annotated[Seats, nested(Seats)]
    mid_hash: Bytes32


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

    CLVM: `(table put held open shown board seats)`: the mover's private and open cards, and all
    that the waiter showed.
    """

    table: Annotated[Table, nested(Table)]
    put: Chips
    held: Held
    open: Cards
    shown: Cards
    board: Cards
    seats: Annotated[Seats, nested(Seats)]


class Commit(PlainState, frozen=True):
    """The mover opens the waiter's cards, and commits to an arrangement of its own.

    CLVM: `(table point put held pending seats)`. `point` is what a point is worth in chips, `put`
    what each player has in the pot.
    """

    table: Annotated[Table, nested(Table)]
    point: Chips
    put: Chips
    held: Held
    pending: Pending
    seats: Annotated[Seats, nested(Seats)]


class Rows(PlainState, frozen=True):
    """The mover arranges its cards in three rows, and shows them.

    CLVM: `(table point put held waiters commitment seats)`: the private cards of both, and what the
    waiter committed to.
    """

    table: Annotated[Table, nested(Table)]
    point: Chips
    put: Chips
    held: Held
    waiters: Held
    commitment: Bytes32
    seats: Annotated[Seats, nested(Seats)]


class Score(PlainState, frozen=True):
    """The mover shows the arrangement that it committed to, and takes its part of the pot.

    CLVM: `(table point put held shown commitment seats)`; `shown` are the waiter's cards, row by
    row from the top.
    """

    table: Annotated[Table, nested(Table)]
    point: Chips
    put: Chips
    held: Held
    shown: Cards
    commitment: Bytes32
    seats: Annotated[Seats, nested(Seats)]
