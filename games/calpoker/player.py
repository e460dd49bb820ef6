"""One seat of California Poker: the cards that it knows, its choices, its moves, its evidence."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from channelsim.clsp.values import Value
from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Hands, deal, final_hands
from channelsim.games.calpoker.hands import best_selection
from channelsim.games.calpoker.states import StateA, StateB, StateC, StateD, StateE
from channelsim.games.calpoker.terms import initial
from channelsim.games.calpoker.validators import REVEAL_SIZE, bobs_share
from channelsim.games.choices import accept, choose, fold
from channelsim.games.contract import (
    Action,
    Choice,
    Forced,
    OneOf,
    Play,
    Position,
    Seat,
    Settle,
    Terms,
    check_entropy,
)
from channelsim.games.errors import BadAdvisory, IllegalAction

# --- what a player knows, and commitments to discards -------------------------------------------


class KnownCards(msgspec.Struct, frozen=True, gc=False):
    """The cards that a player knows.

    `hands` are Alice's and Bob's as they were dealt, and `masks`, by seat, what each gives away;
    None for what the player does not know yet.
    """

    hands: Hands | None = None
    masks: tuple[int | None, int | None] = (None, None)

    @property
    def final(self) -> Hands | None:
        """Both hands after the swap; None until both discards are known."""
        alice, bob = self.masks
        if self.hands is None or alice is None or bob is None:
            return None
        return final_hands(self.hands, alice, bob)

    def with_mask(self, seat: Seat, mask: int | None) -> KnownCards:
        """The same with the discards of one seat."""
        alice, bob = self.masks
        masks = (mask, bob) if seat is Seat.ALICE else (alice, mask)
        return KnownCards(self.hands, masks)


def discard_commit(salt: bytes, mask: int) -> bytes:
    """Alice's commitment: the hash of a 16-byte salt and the mask of what she gives away."""
    return sha256(salt + bytes([mask])).digest()


def committed_mask(salt: bytes, commit: bytes) -> int | None:
    """The mask behind one's own commitment; None for a commitment made with another salt."""
    for mask in FOUR_OF_EIGHT:
        if discard_commit(salt, mask) == commit:
            return mask
    return None


def best_selections(final: Hands) -> tuple[int, int]:
    """The masks of both players' best five of their final eight."""
    return best_selection(final[0]), best_selection(final[1])


# --- the player ---------------------------------------------------------------------------------


ENTROPY_SIZE = 32
"""The least entropy that a player is made from: 16 bytes for the deal, 16 for the salt."""

DISCARD = OneOf(
    "discard",
    tuple(sorted(FOUR_OF_EIGHT)),
    form="FOUR CARDS, by number or by name",
    hint="give four of your cards away",
)
"""The decision of the game; its number is the mask of the cards that are given away."""


class CalPokerPlayer(msgspec.Struct, frozen=True):
    """Knowledge and logic of one seat.

    `half` is its half of the entropy (Alice's preimage, Bob's seed); `salt` is for Alice's
    commitment to her discards, Bob has no use for his.
    """

    seat: Seat
    terms: Terms
    position: Position
    half: bytes
    salt: bytes
    cards: KnownCards = KnownCards()

    # --- choices and moves -----------------------------------------------------------------

    def choices(self) -> tuple[Choice, ...]:
        """The legal choices: none when it is the opponent's turn.

        Only the discards are a decision; a player may fold instead. Alice's commitment, Bob's
        seed, the reveal and accepting the result are forced.
        """
        if self.position.mover is not self.seat:
            return ()
        match self.position.state:
            case StateA():
                return (Forced("commit"),)
            case StateB():
                return (Forced("seed"),)
            case StateC() | StateD():
                return (DISCARD, fold(self.position.mover_share, self.terms.unit))
            case StateE():
                return (Forced("reveal"),)
            case _:
                return accept(self.position.mover_share, self.terms.unit)

    def act(self, action: Action) -> Play | Settle:
        """The move or settlement that takes an action. Raises `IllegalAction`, with the choices.

        Before the reveal the opponent's share is 0: a player that times out loses the hand.
        """
        choose(self.choices(), action)
        if action.verb in ("fold", "accept"):
            return Settle()
        match self.position.state:
            case StateA():
                return Play(sha256(self.half).digest(), 0)
            case StateB():
                return Play(self.half, 0)
            case StateC():
                return Play(self.half + discard_commit(self.salt, action.amount), 0)
            case StateD():
                return Play(bytes([action.amount]), 0)
            case StateE() as state:
                return self._reveal(state)
            case _:
                raise IllegalAction("the game is over")

    def _reveal(self, state: StateE) -> Play:
        """Open Alice's discards, and declare the share that Bob's best hand gets (CP-E-6)."""
        mask = committed_mask(self.salt, state.discard_commit)
        if mask is None:
            raise IllegalAction("the commitment to the discards is not mine")
        final = final_hands(state.hands, mask, state.bob_mask)
        mine, yours = best_selections(final)
        share = bobs_share(self.terms.amount, final, mine, yours)
        return Play(self.salt + bytes([mask, mine]), share, evidence=bytes([yours]))

    # --- moves -----------------------------------------------------------------------------

    def moved(self, position: Position) -> CalPokerPlayer:
        """The player after a legal move of either seat, which led to `position`."""
        return msgspec.structs.replace(self, position=position, cards=self._cards_at(position))

    def _cards_at(self, position: Position) -> KnownCards:
        match position.state:
            case StateC(seed=seed) if self.seat is Seat.ALICE:
                return KnownCards(deal(self.half, seed, self.terms.amount))
            case StateD() as state:
                mine = None
                if self.seat is Seat.ALICE:
                    mine = committed_mask(self.salt, state.discard_commit)
                return KnownCards(state.hands, (mine, None))
            case StateE() as state:
                return self.cards.with_mask(Seat.BOB, state.bob_mask)
            case None:
                return self.cards.with_mask(Seat.ALICE, position.move[16])
            case _:
                return self.cards

    def evidence(self, before: Position, move: bytes) -> tuple[Value, ...]:
        """Against a reveal: Bob's own best five, whatever Alice shows and declares."""
        state = before.state
        if not isinstance(state, StateE) or before.mover is self.seat:
            return ()
        if len(move) != REVEAL_SIZE or move[16] not in FOUR_OF_EIGHT:
            return ()  # the evidence `()` slashes it
        _, mine = final_hands(state.hands, move[16], state.bob_mask)
        return (bytes([best_selection(mine)]),)

    # --- early reveals -----------------------------------------------------------------------

    def advisory(self) -> bytes | None:
        """Alice's preimage, which her next move reveals; None unless Bob's seed has just come."""
        if self.position.mover is self.seat and isinstance(self.position.state, StateC):
            return self.half
        return None

    def advised(self, data: bytes) -> CalPokerPlayer:
        """The player after Alice's early reveal. Raises `BadAdvisory` if it does not open her
        commitment, or if the deal is known already."""
        state = self.position.state
        if self.position.mover is self.seat or not isinstance(state, StateC):
            raise BadAdvisory("no early reveal is due now")
        if self.cards.hands is not None:
            raise BadAdvisory("the deal is known already")
        if len(data) != 16 or sha256(data).digest() != state.commit:
            raise BadAdvisory("the early reveal does not open the opponent's commitment")
        return msgspec.structs.replace(
            self, cards=KnownCards(deal(data, state.seed, self.terms.amount))
        )


def new_player(seat: Seat, terms: Terms, entropy: bytes) -> CalPokerPlayer:
    """A player at the start of a game, from the first 32 bytes of `entropy`."""
    check_entropy(entropy, ENTROPY_SIZE)
    return CalPokerPlayer(seat, terms, initial(terms).position, entropy[:16], entropy[16:32])
