"""What a deal of California Poker compares, and any deal at the reveal: `Game.pack`."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from msgspec import structs

from channelsim.games.calpoker.deal import GIVEN, HAND, Hands
from channelsim.games.calpoker.hands import best_of_eight
from channelsim.games.calpoker.states import StateE
from channelsim.games.calpoker.validators import REVEAL_SIZE
from channelsim.games.contract import Pack, State
from channelsim.games.counting import ranked
from channelsim.games.pack import Cards, Compared


def compared(cards: Cards) -> Compared:
    """The best hands of Alice and Bob; the cards are those that they hold after the swap."""
    alice, bob = best_of_eight(cards[:HAND]), best_of_eight(cards[HAND:])
    return {"hand": (ranked(alice), ranked(bob))}


def stacked(state: State, move: bytes, cards: Cards) -> tuple[State, bytes] | None:
    """The reveal after which Alice and Bob hold these cards, with the same salt and selection.

    Each has got the first four of its cards from the other one.
    """
    if not isinstance(state, StateE) or len(move) != REVEAL_SIZE:
        return None
    alice, bob = cards[:HAND], cards[HAND:]
    hands: Hands = (
        tuple(sorted((*alice[GIVEN:], *bob[:GIVEN]))),
        tuple(sorted((*bob[GIVEN:], *alice[:GIVEN]))),
    )
    opening = move[:16] + bytes((_mask(hands[0], bob[:GIVEN]),))
    after = structs.replace(
        state,
        bob_mask=_mask(hands[1], alice[:GIVEN]),
        alice_cards=hands[0],
        bob_cards=hands[1],
        discard_commit=sha256(opening).digest(),
    )
    return after, opening + move[17:]


def _mask(cards: Cards, given: Sequence[int]) -> int:
    return sum(1 << at for at, card in enumerate(cards) if card in given)


PACK = Pack(2 * HAND, compared, stacked)
