"""The deal of sixteen different cards from both halves of the entropy, and the swap.

    r = sha256(alice_preimage || bob_seed || A), signed
    choose(n, k, r): k = 1 → (r, card) = divmod(r, n), one card
                     else h = k div 2: choose h of n, then k − h of n − h with the rest of r;
                     lift the second list over the first; join, ascending

Alice's hand is choose(52, 8, r). Bob's is choose(44, 8, the rest of r), lifted over Alice's. A card
is a number from 0 to 51, a hand is ascending.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from math import perm
from typing import TypeAlias

from channelsim.clsp.values import int_to_atom
from channelsim.games.counting import masks, pickers

Cards: TypeAlias = tuple[int, ...]
"""Cards, ascending."""

Hands: TypeAlias = tuple[Cards, Cards]
"""Alice's cards and Bob's."""

PACK = 52
HAND = 8
GIVEN = 4

FOUR_OF_EIGHT = frozenset(masks(HAND, GIVEN))
"""The 70 ways to give four of eight cards away; a set bit means *given to the opponent*."""

_PICK = pickers(HAND, GIVEN)

_DEALS = perm(PACK, 2 * HAND)
"""The deal divides by 52, 51, … 37 in turn, so it depends on the number modulo their product."""


def deal(preimage: bytes, seed: bytes, amount: int) -> Hands:
    """Alice's eight cards and Bob's.

    >>> deal(bytes(16), bytes(16), 2000)
    ((9, 10, 17, 28, 31, 37, 40, 50), (6, 21, 24, 25, 26, 27, 41, 42))
    """
    drawn = sha256(preimage + seed + int_to_atom(amount)).digest()
    return deal_from(int.from_bytes(drawn, "big", signed=True))


@lru_cache(maxsize=1 << 8)
def deal_from(number: int) -> Hands:
    """Both hands from the number that the cards are drawn from. A move is judged with each evidence
    in turn, and all of them ask for the same deal.

    >>> deal_from(0)
    ((0, 1, 2, 3, 4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15))
    """
    rest, alice = choose(PACK, HAND, number % _DEALS)
    _, bob = choose(PACK - HAND, HAND, rest)
    return tuple(alice), tuple(lift(bob, alice))


def choose(n: int, k: int, number: int) -> tuple[int, list[int]]:
    """The rest of the number, and k of n cards, ascending.

    >>> choose(52, 2, 52 * 3 + 3)
    (0, [3, 4])
    """
    if k == 1:
        rest, card = divmod(number, n)
        return rest, [card]
    half = k // 2
    rest, first = choose(n, half, number)
    rest, second = choose(n - half, k - half, rest)
    return rest, sorted(first + lift(second, first))


def lift(cards: Sequence[int], gone: Sequence[int]) -> list[int]:
    """Renumber ascending cards of a pack without the ascending `gone` as cards of the whole pack.

    Each moves up past every card of `gone` that is not above it.

    >>> lift([0, 3, 4], [0, 4])
    [1, 5, 6]
    """
    lifted = []
    passed = 0
    for card in cards:
        while passed < len(gone) and gone[passed] <= card + passed:
            passed += 1
        lifted.append(card + passed)
    return lifted


def given(cards: Cards, mask: int) -> Cards:
    """The four of eight cards that a mask gives away.

    >>> given((0, 1, 2, 3, 4, 5, 6, 7), 0b10010011)
    (0, 1, 4, 7)
    """
    return _PICK[mask](cards)


def remaining(cards: Cards, mask: int) -> Cards:
    """The other four."""
    return _PICK[mask ^ 0xFF](cards)


def swapped(cards: Cards, mask: int, others: Cards, others_mask: int) -> Cards:
    """The eight cards after the swap: those not given and those received, ascending again.

    >>> swapped((0, 2, 4, 6, 8, 10, 12, 14), 0x0F, (1, 3, 5, 7, 9, 11, 13, 15), 0x0F)
    (1, 3, 5, 7, 8, 10, 12, 14)
    """
    return tuple(sorted(remaining(cards, mask) + given(others, others_mask)))


@lru_cache(maxsize=64)
def final_hands(hands: Hands, alices_mask: int, bobs_mask: int) -> Hands:
    """Both players' eight cards after the swap.

    Cached: one deal is judged with many selections.
    """
    alice, bob = hands
    return swapped(alice, alices_mask, bob, bobs_mask), swapped(bob, bobs_mask, alice, alices_mask)
