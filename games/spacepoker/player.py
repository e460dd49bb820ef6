"""One seat of Space Poker: the cards that it knows, its choices, its moves, its evidence.

A player knows the cards that follow from its own chain and the values that it knows of the
opponent's.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.amounts import amount_text
from channelsim.games.choices import accept, choose, fold
from channelsim.games.contract import (
    Action,
    Amount,
    Choice,
    Forced,
    Plain,
    Play,
    Position,
    Seat,
    Settle,
    Terms,
    check_entropy,
)
from channelsim.games.errors import BadAdvisory, IllegalAction
from channelsim.games.spacepoker.cards import TOP, above, board, chain, hole, wins_toss
from channelsim.games.spacepoker.hands import best_selection
from channelsim.games.spacepoker.states import PRE_FLOP, BeginRound, CommitA, CommitB, End, MidRound
from channelsim.games.spacepoker.terms import initial

# --- what a player knows ------------------------------------------------------------------------


class ChainValue(msgspec.Struct, frozen=True, gc=False):
    """Value `level` of a player's chain, from 5 (the commitment) down to 0 (the preimage)."""

    level: int
    value: bytes


UNKNOWN = ChainValue(TOP + 1, b"")
"""No value of a chain is known yet."""


class Holding(msgspec.Struct, frozen=True, gc=False):
    """A player's own two cards and its boost (1 or 0)."""

    hole: tuple[int, ...]
    boost: int


class KnownCards(msgspec.Struct, frozen=True, gc=False):
    """The cards that a player knows; a holding is None as long as it is unknown."""

    own: Holding | None
    other: Holding | None
    board: tuple[int, ...]


NO_CARDS = KnownCards(None, None, ())
"""The cards that a player knows before both have committed: none."""


def lowest_public(position: Position, seat: Seat) -> ChainValue:
    """The lowest value of a seat's chain that the moves up to a position have made public."""
    moves = seat is position.mover
    match position.state:
        case CommitB(alices_image=image) if not moves:
            return ChainValue(5, image)
        case BeginRound(street=street, mover_image=mover, waiter_image=waiter):
            return ChainValue(street + 1, mover) if moves else ChainValue(street, waiter)
        case MidRound(street=street, mover_image=mover, waiter_image=waiter):
            return ChainValue(street, mover if moves else waiter)
        case End(mover_image=mover, waiter_preimage=waiter):
            return ChainValue(1, mover) if moves else ChainValue(0, waiter)
        case None if not moves:
            return ChainValue(0, position.move[:16])
        case _:
            return UNKNOWN


def known_cards(chain: tuple[bytes, ...], known: ChainValue) -> KnownCards:
    """The cards that the owner of `chain` knows, by the lowest value of the opponent's."""
    level, value = known.level, known.value
    if level > PRE_FLOP:
        return NO_CARDS
    own = Holding(*hole(chain[0], above(value, PRE_FLOP - level)))
    other = None if level else Holding(*hole(value, chain[PRE_FLOP]))
    return KnownCards(own, other, board(chain[level], value, level))


# --- the player ---------------------------------------------------------------------------------


ENTROPY_SIZE = 16
"""The least entropy that a player is made from; its first 16 bytes are the preimage."""


class SpacePokerPlayer(msgspec.Struct, frozen=True):
    """Knowledge and logic of one seat.

    `chain` has values 0 to 5 of its own chain, `known` is the lowest value that it knows of the
    opponent's.
    """

    seat: Seat
    terms: Terms
    position: Position
    chain: tuple[bytes, ...]
    known: ChainValue = UNKNOWN

    @property
    def cards(self) -> KnownCards:
        """The cards that this player knows now."""
        return known_cards(self.chain, self.known)

    @property
    def stake(self) -> int:
        """The stake of each player, in mojos."""
        return self.terms.stakes[self.seat]

    # --- choices and moves -----------------------------------------------------------------

    def choices(self) -> tuple[Choice, ...]:
        """The legal choices: none when it is the opponent's turn.

        Commitments, the pong, the showdown and accepting the result are forced; so is the rest of
        the betting once both players are all-in. A player may fold in every other turn.
        """
        if self.position.mover is not self.seat:
            return ()
        match self.position.state:
            case CommitA() | CommitB():
                return (Forced("commit"),)
            case BeginRound() as state:
                return self._openings(state)
            case MidRound() as state:
                return self._answers(state)
            case End():
                return (Forced("show"),)
            case _:
                return accept(self.position.mover_share, self.terms.unit)

    def _openings(self, state: BeginRound) -> tuple[Choice, ...]:
        if state.street == PRE_FLOP and not wins_toss(self.chain[PRE_FLOP], state.waiter_image):
            return (Forced("pong", hint="the toss lets the other player open"),)
        room = self.stake - state.half_pot
        if room == 0:
            return (Forced("check", hint="both players are all-in"),)
        bet = Amount("bet", 1, room, self.terms.unit, hint="the opening amount")
        return (Plain("check"), bet, fold(self.position.mover_share, self.terms.unit))

    def _answers(self, state: MidRound) -> tuple[Choice, ...]:
        room = self.stake - state.half_pot - state.last_raise
        if room == 0 and state.last_raise == 0:
            return (Forced("call", hint="both players are all-in"),)
        cost = amount_text(state.last_raise, self.terms.unit)
        call = Plain("call", hint=f"put in {cost}" if state.last_raise else "check too")
        give_up = fold(self.position.mover_share, self.terms.unit)
        if room == 0:
            return (call, give_up)
        more = Amount("raise", 1, room, self.terms.unit, hint="on top of the call")
        return (call, more, give_up)

    def act(self, action: Action) -> Play | Settle:
        """The move or settlement that takes an action. Raises `IllegalAction`, with the choices."""
        choose(self.choices(), action)
        if action.verb in ("fold", "accept"):
            return Settle()
        match self.position.state:
            case CommitA():
                return Play(self.chain[5], self.stake)
            case CommitB(bet_unit=unit):
                return Play(self.chain[4], self.stake - unit)
            case BeginRound(street=n, half_pot=half_pot):
                move = self.chain[n] + int_to_atom(action.amount)
                return Play(move, self.stake - half_pot)
            case MidRound() as state:
                share = self.stake - state.half_pot - state.last_raise
                if action.verb == "call":
                    return Play(self.chain[state.street - 1], share)
                # Nobody reads the 32 bytes before a raise: send what is public already.
                return Play(state.mover_image + int_to_atom(action.amount), share)
            case End() as state:
                return self._show(state)
            case _:
                raise IllegalAction("the game is over")

    def _show(self, state: End) -> Play:
        """Reveal, and declare the share that the opponent's best hand gets (SP-END-5)."""
        preimage = state.waiter_preimage
        own = Holding(*hole(self.chain[0], above(preimage, PRE_FLOP)))
        other = Holding(*hole(preimage, self.chain[PRE_FLOP]))
        common = board(self.chain[0], preimage, 0)
        mask, value = best_selection(own.hole + common, own.boost)
        others_mask, others_value = best_selection(other.hole + common, other.boost)
        better = (others_value > value) - (others_value < value)
        return Play(
            self.chain[0] + bytes([mask]),
            self.stake + state.half_pot * better,
            evidence=bytes([others_mask]),
        )

    # --- moves -----------------------------------------------------------------------------

    def moved(self, position: Position) -> SpacePokerPlayer:
        """The player after a legal move of either seat, which led to `position`."""
        public = lowest_public(position, self.seat.other)
        known = min(self.known, public, key=lambda value: value.level)
        return msgspec.structs.replace(self, position=position, known=known)

    def evidence(self, before: Position, move: bytes) -> tuple[Value, ...]:
        """Against a showdown: the player's own best five, whatever the opponent shows."""
        if not isinstance(before.state, End) or before.mover is self.seat:
            return ()
        cards = known_cards(self.chain, ChainValue(1, before.state.mover_image))
        if cards.own is None:
            return ()
        mask, _ = best_selection(cards.own.hole + cards.board, cards.own.boost)
        return (bytes([mask]),)

    # --- early reveals -----------------------------------------------------------------------

    def advisory(self) -> bytes | None:
        """The player's next image; None unless its next move opens a street and reveals it.

        Alice sends it after Bob's commitment, so that he sees his hole cards; the opener sends it
        after a call, so that the caller sees the new street.
        """
        state = self.position.state
        if self.position.mover is not self.seat or not isinstance(state, BeginRound):
            return None
        if state.street == PRE_FLOP and self.seat is Seat.BOB:
            return None  # after a pong: Bob's value 4 was his commitment, so it is public
        return self.chain[state.street]

    def advised(self, data: bytes) -> SpacePokerPlayer:
        """The player after the opponent's early reveal. Raises `BadAdvisory` if it is not the
        value that opens this street, or if that is known already."""
        state = self.position.state
        if self.position.mover is self.seat or not isinstance(state, BeginRound):
            raise BadAdvisory("no early reveal is due now")
        if self.known.level <= state.street:
            raise BadAdvisory("this value is known already")
        if len(data) != 32 or sha256(data).digest() != state.mover_image:
            raise BadAdvisory("the early reveal does not open the opponent's commitment")
        return msgspec.structs.replace(self, known=ChainValue(state.street, data))


def new_player(seat: Seat, terms: Terms, entropy: bytes) -> SpacePokerPlayer:
    """A player at the start of a game, from the first 16 bytes of `entropy`."""
    check_entropy(entropy, ENTROPY_SIZE)
    return SpacePokerPlayer(seat, terms, initial(terms).position, chain(entropy[:16]))
