"""Counting ranks: what every poker hand is compared by, whatever the deck.

A rank is 2 to 14 (the ace). A *group* is all the cards of one rank in a hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

HandValue: TypeAlias = tuple[int, ...]
"""What a hand is worth: lists that are compared element by element, the first difference
decides, the higher one wins."""

RANKS = range(2, 15)
"""All ranks, from the two to the ace."""

WEIGHTS = (0, 0, *(pow(7, rank, 2**27 - 39) for rank in RANKS))
"""One number per rank such that the sum over a hand tells which ranks it holds.

No two different hands of up to seven ranks, in any order and with any repeats, of the same
size have the same sum, nor any two of eight out of one pack (at most four of a rank), so a sum
is a key to look a hand up by. Adding small numbers is the
fastest key there is in Python: powers of 7 modulo a prime below 2^27 keep every sum of seven
within 30 bits. That they are all different has no deeper reason; a test counts them.
"""


def groups(ranks: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The groups of a hand, larger ones first and higher ranks first: counts and ranks.

    >>> groups((4, 13, 4, 9, 13))
    ((2, 2, 1), (13, 4, 9))
    """
    ordered = sorted({(ranks.count(rank), rank) for rank in ranks}, reverse=True)
    return tuple(count for count, _ in ordered), tuple(rank for _, rank in ordered)


def is_run(descending: Sequence[int]) -> bool:
    """Whether five different ranks, from high to low, are five in a row.

    >>> is_run((9, 8, 7, 6, 5)), is_run((14, 5, 4, 3, 2)), is_run((9, 8, 7, 6))
    (True, False, False)
    """
    return len(descending) == 5 and descending[0] - descending[4] == 4
