"""One seat of Space Poker: what it may do, what it sends, what it learns, what it can prove."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from clsp.integers import int_to_atom
from clsp.values import Value
from games.amounts import spoken
from games.choices import choose
from games.contract import (
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
from games.errors import BadAdvisory, IllegalAction
from games.spacepoker.entropy import chain, wins_toss
from games.spacepoker.hands import value_of_selection
from games.spacepoker.sight import UNKNOWN, Holding, Known, Sight, look, public
from games.spacepoker.states import PRE_FLOP, BeginRound, CommitA, CommitB, End, MidRound
from games.spacepoker.terms import initial

ENTROPY_SIZE = 16
"""The least entropy that a player is made from; its first 16 bytes are the preimage."""


class SpacePokerPlayer(msgspec.Struct, frozen=True):
    """All that one seat knows: its own chain (values 0 to 5), the position, and the lowest
    value that it knows of the opponent's chain. Immutable."""

    seat: Seat
    terms: Terms
    position: Position
    chain: tuple[bytes, ...]
    known: Known = UNKNOWN

    @property
    def sight(self) -> Sight:
        """The cards that this player sees now."""
        return look(self.chain, self.known)

    @property
    def stake(self) -> int:
        """What each player has put up for the game, in mojos."""
        return self.terms.stakes[self.seat]

    # --- my turn ---------------------------------------------------------------------------

    def choices(self) -> tuple[Choice, ...]:
        """What I may do now: empty when it is not my turn.

        Commitments, the pong, the showdown and accepting the result are forced; so is what is
        left of the betting once both players are all-in. Folding is offered on every turn
        on which there is something to decide.
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
                share = spoken(self.position.mover_share, self.terms.unit)
                return (Forced("accept", hint=f"take {share}"),)

    def _openings(self, state: BeginRound) -> tuple[Choice, ...]:
        if state.street == PRE_FLOP and not wins_toss(self.chain[PRE_FLOP], state.waiter_image):
            return (Forced("pong", hint="the toss lets the other player open"),)
        room = self.stake - state.half_pot
        if room == 0:
            return (Forced("check", hint="both players are all-in"),)
        bet = Amount("bet", 1, room, self.terms.unit, hint="the opening amount")
        return (Plain("check"), bet, self._fold())

    def _answers(self, state: MidRound) -> tuple[Choice, ...]:
        room = self.stake - state.half_pot - state.last_raise
        if room == 0 and state.last_raise == 0:
            return (Forced("call", hint="both players are all-in"),)
        cost = spoken(state.last_raise, self.terms.unit)
        call = Plain("call", hint=f"put in {cost}" if state.last_raise else "check too")
        if room == 0:
            return (call, self._fold())
        more = Amount("raise", 1, room, self.terms.unit, hint="on top of the call")
        return (call, more, self._fold())

    def _fold(self) -> Plain:
        share = spoken(self.position.mover_share, self.terms.unit)
        return Plain("fold", hint=f"stop here and keep {share}")

    def act(self, action: Action) -> Play | Settle:
        """What I send for this action. Raises `IllegalAction`, naming what is possible."""
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
        """Reveal, and leave the opponent what its best hand is entitled to (SP-END-5)."""
        sight = look(self.chain, Known(0, state.waiter_preimage))
        assert sight.own is not None
        assert sight.other is not None
        mine, my_value = _best(sight.own, sight.board)
        theirs, their_value = _best(sight.other, sight.board)
        better = (their_value > my_value) - (their_value < my_value)
        return Play(
            self.chain[0] + bytes([mine]),
            self.stake + state.half_pot * better,
            evidence=bytes([theirs]),
        )

    # --- moves -----------------------------------------------------------------------------

    def moved(self, position: Position) -> SpacePokerPlayer:
        """The player after a move, mine or the opponent's, that was found legal."""
        shown = public(position, self.seat.other)
        known = shown if shown.level < self.known.level else self.known
        return msgspec.structs.replace(self, position=position, known=known)

    def evidence(self, before: Position, move: bytes) -> tuple[Value, ...]:
        """Against a showdown: my own best five, whatever the opponent showed and declared."""
        if not isinstance(before.state, End) or before.mover is self.seat:
            return ()
        sight = look(self.chain, Known(1, before.state.mover_image))
        assert sight.own is not None
        return (bytes([sight.own.best(sight.board)]),)

    # --- early reveals -----------------------------------------------------------------------

    def advisory(self) -> bytes | None:
        """My next image, when my next move is to open a street with it.

        Alice after Bob's commitment, so that he sees his hole cards; the opener after a call,
        so that the caller sees the new street. The next move reveals nothing less.
        """
        state = self.position.state
        if self.position.mover is not self.seat or not isinstance(state, BeginRound):
            return None
        if state.street == PRE_FLOP and self.seat is Seat.BOB:
            return None  # after a pong: Bob's value 4 was his commitment, it is public
        return self.chain[state.street]

    def advised(self, data: bytes) -> SpacePokerPlayer:
        """The player after the opponent's early reveal. Raises `BadAdvisory` if it is not the
        value that the opponent must open this street with, or came after it was known."""
        state = self.position.state
        if self.position.mover is self.seat or not isinstance(state, BeginRound):
            raise BadAdvisory("no early reveal is due now")
        if self.known.level <= state.street:
            raise BadAdvisory("this value is known already")
        if len(data) != 32 or sha256(data).digest() != state.mover_image:
            raise BadAdvisory("the early reveal does not open the opponent's commitment")
        return msgspec.structs.replace(self, known=Known(state.street, data))


def new_player(seat: Seat, terms: Terms, entropy: bytes) -> SpacePokerPlayer:
    """A player at the start of a game; only the first 16 bytes of `entropy` are used."""
    check_entropy(entropy, ENTROPY_SIZE)
    return SpacePokerPlayer(seat, terms, initial(terms).position, chain(entropy[:16]))


def _best(holding: Holding, board: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    mask = holding.best(board)
    return mask, value_of_selection(holding.hole + board, mask, holding.boost)
