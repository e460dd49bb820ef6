"""One seat of a poker game with a prepared deck: its choices, its moves, its cards, its evidence.

What a player may do follows from the state: the rules that judge a move also say what it may be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256

from msgspec import structs

from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.amounts import amount_text
from channelsim.games.choices import accept, choose, fold
from channelsim.games.contract import (
    Action,
    Amount,
    Choice,
    Forced,
    OneOf,
    Plain,
    Play,
    Position,
    Seat,
    Settle,
    Terms,
    check_entropy,
)
from channelsim.games.errors import BadAdvisory, IllegalAction
from channelsim.games.poker.arrangements import COUNT, commit, committed_order, in_rows
from channelsim.games.poker.arranging import due_points, in_order
from channelsim.games.poker.known_cards import NO_CARDS, KnownCards, card, known_cards, shown_last
from channelsim.games.poker.limits import Forced as ForcedBet
from channelsim.games.poker.limits import Limits, acts_first
from channelsim.games.poker.openings import (
    SCALAR,
    dealt_by_call,
    is_own,
    locks_open,
    pending_size,
    taken,
)
from channelsim.games.poker.selections import best_claim, best_masks, quarters_won
from channelsim.games.poker.states import (
    Begin,
    Commit,
    Deal,
    Draw,
    End,
    Held,
    Mid,
    Owed,
    Rows,
    Score,
    Seats,
    Show,
    Showdown,
    Table,
)
from channelsim.games.poker.terms import initial
from channelsim.games.poker.validators import (
    CALL,
    RAISE,
    calls_share,
    draws_with_call,
    limits_facing,
    pot_won,
    stake_left,
    waiters_share,
)
from channelsim.games.poker.variants import VARIANTS, Variant


@dataclass(frozen=True, slots=True)
class PokerPlayer:
    """Knowledge and logic of one seat.

    `locks` are the scalars of its own locks by position, `cards` the cards that it knows; `salt`
    hides the arrangement that it commits to.
    """

    seat: Seat
    terms: Terms
    position: Position
    locks: tuple[bytes, ...] = field(repr=False)
    salt: bytes = field(repr=False)
    cards: KnownCards = NO_CARDS

    @property
    def showdown(self) -> Showdown:
        """How the hands of this game are selected and compared."""
        return VARIANTS[self.terms.game].showdown

    # --- choices -----------------------------------------------------------------------------

    def choices(self) -> tuple[Choice, ...]:
        """The legal choices: none when it is the opponent's turn.

        Openings are forced, and so is the rest of the betting once both players are all-in. A
        player may fold at every other turn; who shows second need not show a hand that loses all.
        """
        if self.position.mover is not self.seat:
            return ()
        match self.position.state:
            case Deal():
                return (Forced("deal"),)
            case Begin() as state:
                return self._openings(state)
            case Mid() as state:
                return self._answers(state)
            case Draw() as state:
                return (discards("discard", len(state.known.movers)), self._fold())
            case Commit() | Rows():
                return (ARRANGE, self._fold())
            case Show():
                return (Forced("show"),)
            case Score() as state:
                committed = self._committed(state)
                return _showing(committed is None or self._keeps(self._scored(state, committed[1])))
            case End() as state:
                return _showing(self._keeps(state.table.unit * self._showdown(state)[0]))
            case _:
                return accept(self.position.mover_share, self.terms.unit)

    def _keeps(self, share: int) -> bool:
        """True if a player that shows, and leaves this share, has more than one that gives up."""
        return self.terms.amount - share > self.position.mover_share

    def _openings(self, state: Begin) -> tuple[Choice, ...]:
        if not self._is_first(state):
            return (Forced("pong", hint="the other player is the first to act"),)
        return self._bets(limits_facing(state), state.pot.waiter - state.pot.mover)

    def _answers(self, state: Mid) -> tuple[Choice, ...]:
        owes = state.pot.waiter - state.pot.mover
        cards = len(state.known.movers) if draws_with_call(state) else None
        return self._bets(limits_facing(state), owes, cards)

    def _is_first(self, state: Begin) -> bool:
        """True if the mover, this player, is the first to act on a street that begins."""
        first, button = state.streets[0].first, state.seats.button
        return acts_first(first, button, self.cards.own_up, self.cards.others_up)

    def _bets(self, limits: Limits, owes: int, cards: int | None = None) -> tuple[Choice, ...]:
        """Check or call, bet or raise, and fold.

        `owes` is what a call puts in, `cards` the size of a hand of which it says what is replaced.
        """
        unit = self.terms.unit
        hint = f"put in {amount_text(owes * unit, unit)}" if owes else ""
        stay = "call" if owes else "check"
        bets: list[Choice] = []
        if limits.forced is ForcedBet.BRING_IN:
            bets.append(Plain("bring-in", hint=amount_text(limits.bring_in * unit, unit)))
        if limits.forced is ForcedBet.OPENING:
            bets.append(Amount("bet", limits.size * unit, limits.size * unit, unit, "", unit))
        elif limits.allows(limits.least):
            verb = "raise" if limits.raises or limits.forced is ForcedBet.BROUGHT_IN else "bet"
            on_top = "on top of the call" if owes else ""
            bets.append(Amount(verb, limits.least * unit, limits.most * unit, unit, on_top, unit))
        if limits.forced in (ForcedBet.BRING_IN, ForcedBet.OPENING):
            return (*bets, self._fold())
        if cards is not None:
            return (discards(stay, cards, hint), *bets, self._fold())
        if not bets and not owes and not limits.left:
            return (Forced(stay, hint="both players are all-in"),)
        return (Plain(stay, hint), *bets, self._fold())

    def _fold(self) -> Plain:
        return fold(self.position.mover_share, self.terms.unit)

    # --- moves -------------------------------------------------------------------------------

    def act(self, action: Action) -> Play | Settle:
        """The move or settlement that takes an action. Raises `IllegalAction`, with the choices."""
        choose(self.choices(), action)
        if action.verb in ("fold", "muck", "accept"):
            return Settle()
        match self.position.state:
            case Deal() as state:
                share = waiters_share(state.table, state.streets, state.pot, state.forced)
                return Play(self._locks(state.streets[0].deal, state.seats), share)
            case Begin() as state:
                return self._begin(state, action)
            case Mid() as state:
                return self._answer(state, action)
            case Draw() as state:
                move = self._owed(state.table, state.pending) + bytes((action.amount,))
                return Play(move, stake_left(state.table, state.put))
            case Commit() | Rows() as state:
                return self._arrange(state, action.amount)
            case Score() as state:
                return self._score(state)
            case Show() as state:
                move = self._owed(state.table, state.pending) + self._shown(state.known.movers)
                return Play(move, stake_left(state.table, state.put))
            case End() as state:
                chips, mine, theirs = self._showdown(state)
                return Play(self._shown(state.held) + mine, state.table.unit * chips, theirs)
            case _:
                raise IllegalAction("the game is over")

    def _begin(self, state: Begin, action: Action) -> Play:
        move = self._owed(state.table, state.pending)
        first = self._is_first(state)
        share = waiters_share(state.table, state.streets, state.pot, 0 if first else state.forced)
        if not first:
            return Play(move, share)
        x = action.amount // self.terms.unit
        if action.verb == "bring-in":
            x = state.table.bring_in
        return Play(move + int_to_atom(x), share)

    def _answer(self, state: Mid, action: Action) -> Play:
        if action.verb in ("bet", "raise"):
            share = waiters_share(state.table, state.streets, state.pot, 0)
            return Play(RAISE + int_to_atom(action.amount // self.terms.unit), share)
        deal = dealt_by_call(state.streets, state.pot.waiter == state.table.stake)
        mask = bytes((action.amount,)) if draws_with_call(state) else b""
        return Play(CALL + self._locks(deal, state.seats) + mask, calls_share(state))

    def _arrange(self, state: Commit | Rows, number: int) -> Play:
        """Commit to an arrangement, or show it."""
        share = stake_left(state.table, state.put)
        order = bytes(in_rows(number, positions_of(state.held)))
        if isinstance(state, Rows):
            return Play(order + self._shown(state.held), share)
        opened = self._owed(state.table, state.pending)
        return Play(opened + commit(order, self.salt), share)

    def _score(self, state: Score) -> Play:
        """Show the arrangement that this player committed to."""
        committed = self._committed(state)
        if committed is None:
            raise IllegalAction("this player did not make the commitment")
        order, rows = committed
        return Play(self._shown(state.held) + order + self.salt, self._scored(state, rows))

    def _committed(self, state: Score) -> tuple[bytes, tuple[int, ...]] | None:
        """The order and the rows that this player committed to; None if it did not."""
        order = committed_order(positions_of(state.held), self.salt, state.commitment)
        rows = in_order(state.held, self.cards.own, order) if order else None
        return None if order is None or rows is None else (order, rows)

    def _scored(self, state: Score, rows: tuple[int, ...]) -> int:
        """The opponent's share once these rows are shown, in mojos."""
        return state.table.unit * due_points(state, rows)

    def _locks(self, deal: Iterable[tuple[int, int]], seats: Seats) -> bytes:
        """Open the own locks of a deal: all but those of the own cards."""
        return b"".join(self.locks[at] for at, who in deal if not is_own(who, seats))

    def _owed(self, table: Table, pending: Iterable[Owed]) -> bytes:
        """Open what is due: the own locks, and the cards that the opponent has opened."""
        return b"".join(
            self._opening(table, owed.position, owed.scalar)
            if owed.scalar
            else self.locks[owed.position]
            for owed in pending
        )

    def _shown(self, held: Iterable[tuple[int, bytes]]) -> bytes:
        """Show the own private cards."""
        return b"".join(
            self.locks[at] + bytes((number,))
            for (at, _), number in zip(held, self.cards.own, strict=True)
        )

    def _opening(self, table: Table, position: int, theirs: bytes) -> bytes:
        """A lock with the card behind it."""
        mine = self.locks[position]
        return mine + bytes((card(table, position, mine, theirs),))

    def _showdown(self, state: End) -> tuple[int, bytes, bytes]:
        """The chips that the opponent is due, and the best selections of both players."""
        showdown = state.table.showdown
        own, other = (*self.cards.own, *state.open, *state.board), (*state.shown, *state.board)
        won = quarters_won(showdown, best_claim(showdown, other), best_claim(showdown, own))
        return pot_won(state, won), best_masks(showdown, own), best_masks(showdown, other)

    def moved(self, position: Position) -> PokerPlayer:
        """The player after a legal move of either seat, which led to `position`."""
        if position.over and position.mover is self.seat:
            cards = shown_last(self.position, position.move, self.cards)
        else:
            cards = known_cards(self.cards, self.locks, position, self.seat)
        return replace(self, position=position, cards=cards)

    def evidence(self, before: Position, move: bytes) -> tuple[Value, ...]:
        """Against a showdown: the player's own best selection, whatever the opponent shows."""
        state = before.state
        if not isinstance(state, End) or before.mover is self.seat:
            return ()
        return (best_masks(state.table.showdown, (*state.shown, *state.board)),)

    # --- early reveals -----------------------------------------------------------------------

    def advisory(self) -> bytes | None:
        """What the player owes on a street that begins, and opens anyway; None if it owes nothing.

        The opponent then sees its cards, or the street, before the player has decided what to bet.
        """
        state = self.position.state
        if self.position.mover is not self.seat or not isinstance(state, Begin):
            return None
        return self._owed(state.table, state.pending) or None

    def advised(self, data: bytes) -> PokerPlayer:
        """The player after the opponent's early reveal. Raises `BadAdvisory` unless it opens all
        that the opponent owes."""
        state = self.position.state
        if self.position.mover is self.seat or not isinstance(state, Begin) or not state.pending:
            raise BadAdvisory("no early reveal is due now")
        table, pending, seats = state.table, state.pending, state.seats
        if len(data) != pending_size(pending) or not locks_open(table, pending, seats, data):
            raise BadAdvisory("the early reveal does not open what the opponent owes")
        known = taken(table, pending, seats, state.known, data)
        if known is None:
            raise BadAdvisory("the early reveal claims another card")
        told = structs.replace(state, known=known, pending=())
        position = structs.replace(self.position, state=told)
        cards = known_cards(self.cards, self.locks, position, self.seat)
        return replace(self, cards=cards)


def positions_of(held: Held) -> bytes:
    """The positions of private cards, in the order of the deal."""
    return bytes(position for position, _ in held)


def _showing(forced: bool) -> tuple[Choice, ...]:
    """The choices of a player that is to show: it may give up where that costs nothing."""
    return (Forced("show"),) if forced else (Plain("show"), Plain("muck"))


def discards(verb: str, cards: int, hint: str = "") -> OneOf:
    """The choice of the cards to replace, as a mask of a hand of so many cards."""
    return OneOf(verb, tuple(range(1 << cards)), "the cards to replace, by number or name", hint)


ARRANGE = OneOf(
    "arrange",
    tuple(range(COUNT)),
    "the three cards of the top row and the five of the middle one, by number or name",
)


def new_player(variant: Variant, seat: Seat, terms: Terms, entropy: bytes) -> PokerPlayer:
    """A player at the start of a game, from the scalars of its locks and fresh bytes."""
    check_entropy(entropy, entropy_size(variant))
    locks = tuple(entropy[at : at + SCALAR] for at in range(0, SCALAR * variant.positions, SCALAR))
    salt = sha256(entropy[SCALAR * variant.positions :]).digest()
    return PokerPlayer(seat, terms, initial(variant, terms).position, locks, salt)


def entropy_size(variant: Variant) -> int:
    """The secret bytes of a player: a scalar for each position, and 32 fresh bytes."""
    return SCALAR * (variant.positions + 1)
