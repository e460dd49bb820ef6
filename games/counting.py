"""Counting ranks, by which poker hands of every deck are compared, and picking cards by masks.

A rank is 2 to 14 (the ace). A *group* is all the cards of one rank in a hand. A mask is one
byte whose bit i (bit 0 is the least significant) stands for card i: an unsigned number here. In
CLVM a byte with the top bit set is negative, so masks are read from bytes and never from a CLVM
integer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from operator import itemgetter
from typing import Any, TypeAlias

from channelsim.clsp.values import Value

# --- ranks --------------------------------------------------------------------------------------


HandValue: TypeAlias = tuple[int, ...]
"""The value of a hand: a list, compared element by element; the first difference decides, and the
higher number wins."""

HAND = 5
"""The cards of a hand that counts."""

RANKS = range(2, 15)
"""All ranks, from the two to the ace."""

WEIGHTS = (0, 0, *(pow(7, rank, 2**27 - 39) for rank in RANKS))
"""A number for each rank, such that the sum over a hand determines its ranks.

Two different hands of the same size, up to seven ranks with any repeats, have different sums; so do
two hands of eight from one pack (at most four of a rank). So the sum is a key for tables of hand
values, and adding small numbers is the fastest key in Python: powers of 7 modulo a prime below 2^27
keep every sum of seven within 30 bits. A test counts that all sums differ.
"""


def rank_of(card: int) -> int:
    """The rank of a card, from 0 to 51: (rank − 2) × 4 + suit.

    >>> rank_of(0), rank_of(51)
    (2, 14)
    """
    return 2 + (card >> 2)


def suit_of(card: int) -> int:
    """A card's suit, 0 to 3; the specifications count them from 1."""
    return card & 3


def groups(ranks: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The groups of a hand, larger ones first and higher ranks first: counts and ranks.

    >>> groups((4, 13, 4, 9, 13))
    ((2, 2, 1), (13, 4, 9))
    """
    ordered = sorted({(ranks.count(rank), rank) for rank in ranks}, reverse=True)
    return tuple(count for count, _ in ordered), tuple(rank for _, rank in ordered)


@lru_cache(maxsize=1 << 14)
def ranked(value: HandValue) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split the value of five cards into its class, which is the counts, and the rest.

    The counts add up to five, or to more where they stand for a straight or a flush.

    >>> ranked((2, 2, 1, 13, 4, 9)), ranked((3, 1, 2, 5))
    (((2, 2, 1), (13, 4, 9)), ((3, 1, 2), (5,)))
    """
    counts = next(size for size in range(1, len(value) + 1) if sum(value[:size]) >= HAND)
    return value[:counts], value[counts:]


def is_run(descending: Sequence[int]) -> bool:
    """True if five different ranks, from high to low, are five in a row.

    >>> is_run((9, 8, 7, 6, 5)), is_run((14, 5, 4, 3, 2)), is_run((9, 8, 7, 6))
    (True, False, False)
    """
    return len(descending) == 5 and descending[0] - descending[4] == 4


# --- masks --------------------------------------------------------------------------------------


@cache
def masks(of: int, take: int) -> tuple[int, ...]:
    """All masks that take `take` (at least 2) of `of` cards (at most 8), ascending.

    >>> masks(3, 2)
    (3, 5, 6)
    >>> len(masks(7, 5)), len(masks(8, 5)), len(masks(8, 4))
    (21, 56, 70)
    """
    return tuple(sorted(sum(1 << i for i in chosen) for chosen in combinations(range(of), take)))


@cache
def pickers(of: int, take: int) -> dict[int, Callable[[Sequence[Any]], tuple[Any, ...]]]:
    """Functions that pick the cards of each of `masks(of, take)` from a hand, in their order.

    >>> pickers(3, 2)[0b101](["king", "four", "ace"])
    ('king', 'ace')
    """
    return {mask: itemgetter(*(i for i in range(of) if mask >> i & 1)) for mask in masks(of, take)}


def read_mask(value: Value) -> int | None:
    """The number in a mask of one byte; None for any other value.

    >>> read_mask(bytes([0x9F])), read_mask(b""), read_mask((b"", b""))
    (159, None, None)
    """
    if isinstance(value, bytes) and len(value) == 1:
        return value[0]
    return None
