"""The states of the poker validators, for every game that is played with a prepared deck.

The *mover* makes the next move, the *waiter* is its opponent. Amounts are in chips of `unit` mojos.
A *position* is a place in the deck. `read` takes the CLVM form and raises `BadState` for any other
shape. Nothing here says which game it is: the schedule and the ranking do.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Annotated, TypeAlias

from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.deck.group import G1
from channelsim.games.deck.terms import CARDS
from channelsim.games.forms import Atom, ByteIn, HashOf, Integer, ListOf, Optional, Pair
from channelsim.games.poker.limits import First, Forced, Structure, acts_first_with
from channelsim.games.poker.ranking import RANKINGS
from channelsim.games.states import Bytes32, PlainState

OTHERS, BUTTONS, BOARD, OTHERS_UP, BUTTONS_UP = range(5)
"""Whose card is dealt: private to the other seat or to the button, shared, or open."""

Chips: TypeAlias = Annotated[int, Integer(0, MAX_AMOUNT)]
Flag: TypeAlias = Annotated[int, Integer(0, 1)]
ForcedBet: TypeAlias = Annotated[int, Integer(min(Forced), max(Forced), structural=True)]
Position: TypeAlias = Annotated[int, Integer(0, CARDS - 1, structural=True)]
Who: TypeAlias = Annotated[int, Integer(OTHERS, BUTTONS_UP, structural=True)]
Point: TypeAlias = Annotated[bytes, Atom(48)]


_POSITION = Integer(0, CARDS - 1, structural=True)
_WHO = Integer(OTHERS, BUTTONS_UP, structural=True)
_CARD = ByteIn(range(CARDS), "a card")

Cards: TypeAlias = Annotated[tuple[int, ...], ListOf(_CARD, CARDS)]
"""Cards that both players know, each a raw byte."""

OpenCards: TypeAlias = Annotated[tuple[tuple[int, int], ...], ListOf(Pair(_POSITION, _CARD), CARDS)]
"""Open cards with their positions."""

Held: TypeAlias = Annotated[tuple[tuple[int, bytes], ...], ListOf(Pair(_POSITION, Atom(32)), CARDS)]
"""Private cards in the order of the deal: the position, and the scalar of the opponent's lock."""

Dealt: TypeAlias = Annotated[tuple[tuple[int, int], ...], ListOf(Pair(_POSITION, _WHO), CARDS)]
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

    first: Annotated[int, Integer(min(First), max(First), structural=True)]
    size: Chips
    deal: Dealt
    kind: Annotated[int, Integer(min(Kind), max(Kind), structural=True)]


Streets: TypeAlias = Annotated[tuple[Street, ...], ListOf(Street.form, CARDS)]
"""The streets that are left, the current one first."""


class Showdown(PlainState, frozen=True):
    """How hands are selected and compared. CLVM: `(mask_size ranking low)`.

    `mask_size` is the size of a selection: 0 for hands of five cards, 1 for five of seven, 2 for
    two of four own and three of five shared cards. `ranking` is the number of a ranking. Half of
    the pot goes to the lowest hand, in the order ace to five, whose key is less than `low`; 0 where
    there is no such half.
    """

    mask_size: Annotated[int, Integer(0, 2)]
    ranking: Annotated[int, Integer(0, len(RANKINGS) - 1)]
    low: Annotated[int, Integer(0, 1 << 24)]

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
    locks: Annotated[tuple[Lock, ...], ListOf(Lock.form, CARDS)]
    unit: Annotated[int, Integer(1, MAX_AMOUNT)]
    stake: Annotated[int, Integer(1, MAX_AMOUNT)]
    structure: Annotated[int, Integer(min(Structure), max(Structure))]
    cap: Annotated[int, Integer(0, 255)]
    bring_in: Chips
    showdown: Showdown


class Seats(PlainState, frozen=True):
    """Who the mover is. CLVM: `(button initiator)`, 1 if the mover has the button, and if it is the
    channel's initiator."""

    button: Annotated[int, Integer(0, 1, structural=True)]
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

    @property
    def opened(self) -> Held:
        """The private cards of both players."""
        return (*self.movers, *self.waiters)


class Owed(PlainState, frozen=True):
    """A lock that the mover owes. CLVM: `(position who scalar)`.

    `scalar` is the waiter's, of an open card; it is empty for a private card of the waiter.
    """

    position: Position
    who: Who
    scalar: Annotated[bytes, Optional(Atom(32))]


Pending: TypeAlias = Annotated[tuple[Owed, ...], ListOf(Owed.form, CARDS)]


def are_open(held: Iterable[tuple[int, bytes]], pending: Iterable[Owed] = ()) -> bool:
    """True if all scalars of these cards may be those of locks: nobody opens one by another."""
    scalars = [scalar for _, scalar in held]
    scalars += [owed.scalar for owed in pending if owed.scalar]
    return all(0 < int.from_bytes(scalar, "big") < G1.order for scalar in scalars)


class Pot(PlainState, frozen=True):
    """What both have in the pot, in chips. CLVM: `(mover waiter)`."""

    mover: Chips
    waiter: Chips

    def leaves(self, chips: int, table: Table) -> bool:
        """True if both players have that many chips left."""
        return self.mover + chips <= table.stake and self.waiter + chips <= table.stake


def forced_bet(table: Table, streets: Streets, forced: int) -> int:
    """The chips of a forced bet that is due, or may be due."""
    return {Forced.BRING_IN: table.bring_in, Forced.OPENING: streets[0].size}.get(Forced(forced), 0)


class Deal(PlainState, frozen=True):
    """The opener opens what it owes of the first street.

    CLVM: `(table streets pot forced seats)`.
    """

    table: Table
    streets: Streets
    pot: Pot
    forced: ForcedBet
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: the stakes cover the forced bets."""
        due = forced_bet(self.table, self.streets, self.forced)
        return self.pot.leaves(due, self.table)


class Begin(PlainState, frozen=True):
    """A street begins: the mover opens what it owes, and bets or checks if it is first to act.

    CLVM: `(table streets pot forced known pending seats mid_hash)`.
    """

    table: Table
    streets: Streets
    pot: Pot
    forced: ForcedBet
    known: Known
    pending: Pending
    seats: Seats
    mid_hash: Annotated[bytes, HashOf("mid")]

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, which
        covers a forced bet, too, and locks were opened by their scalars. If open cards say who acts
        first, it is a mover that owes nothing: it would have acted, or left that to the waiter."""
        due = forced_bet(self.table, self.streets, self.forced)
        if not (self.pot.leaves(due, self.table) and are_open(self.known.opened, self.pending)):
            return False
        first = self.streets[0].first
        return first < First.HIGHEST or bool(self.pending) or self._acts_first(first)

    def _acts_first(self, first: int) -> bool:
        known = self.known
        return acts_first_with(first, self.seats.button, known.movers_up, known.waiters_up)


class Mid(PlainState, frozen=True):
    """The mover answers a bet, a raise or a check: it raises, or calls and opens what it owes.

    CLVM: `(table streets pot last raises brought_in known seats)`; `brought_in` is 1 while only a
    bring-in is in front.
    """

    table: Table
    streets: Streets
    pot: Pot
    last: Chips
    raises: Annotated[int, Integer(0, 1 << 30)]
    brought_in: Flag
    known: Known
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.pot.leaves(0, self.table) and are_open(self.known.opened)


class Draw(PlainState, frozen=True):
    """The mover opens what the waiter has drawn, and says which of its own cards it replaces.

    CLVM: `(table streets put known pending seats mid_hash)`. The first street is the draw; `put` is
    what each player has in the pot.
    """

    table: Table
    streets: Streets
    put: Chips
    known: Known
    pending: Pending
    seats: Seats
    mid_hash: Annotated[bytes, HashOf("mid")]

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.put <= self.table.stake and are_open(self.known.opened, self.pending)


class Show(PlainState, frozen=True):
    """The mover opens the last cards, and all of its own.

    CLVM: `(table put known pending seats)`; `put` is what each player has in the pot.
    """

    table: Table
    put: Chips
    known: Known
    pending: Pending
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.put <= self.table.stake and are_open(self.known.opened, self.pending)


class End(PlainState, frozen=True):
    """The mover shows its cards and takes its part of the pot.

    CLVM: `(table put held open shown board seats)`: the mover's private and open cards, and all
    that the waiter showed.
    """

    table: Table
    put: Chips
    held: Held
    open: Cards
    shown: Cards
    board: Cards
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.put <= self.table.stake and are_open(self.held)


class Commit(PlainState, frozen=True):
    """The mover opens the waiter's cards, and commits to an arrangement of its own.

    CLVM: `(table point put held pending seats)`. `point` is what a point is worth in chips, `put`
    what each player has in the pot.
    """

    table: Table
    point: Chips
    put: Chips
    held: Held
    pending: Pending
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.put <= self.table.stake and are_open(self.held, self.pending)


class Rows(PlainState, frozen=True):
    """The mover arranges its cards in three rows, and shows them.

    CLVM: `(table point put held waiters commitment seats)`: the private cards of both, and what the
    waiter committed to.
    """

    table: Table
    point: Chips
    put: Chips
    held: Held
    waiters: Held
    commitment: Bytes32
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.put <= self.table.stake and are_open((*self.held, *self.waiters))


class Score(PlainState, frozen=True):
    """The mover shows the arrangement that it committed to, and takes its part of the pot.

    CLVM: `(table point put held shown commitment seats)`; `shown` are the waiter's cards, row by
    row from the top.
    """

    table: Table
    point: Chips
    put: Chips
    held: Held
    shown: Cards
    commitment: Bytes32
    seats: Seats

    def holds(self, amount: int) -> bool:
        """True of every state that play reaches: nobody has put in more than the stake, and locks
        were opened by their scalars."""
        return self.put <= self.table.stake and are_open(self.held)
