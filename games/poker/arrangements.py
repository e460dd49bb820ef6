"""Arrangements of thirteen cards in rows of three, five and five, by number.

A number names the three cards of the top row and then five of the ten others for the middle one,
both in the order of `itertools.combinations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from operator import itemgetter
from typing import TypeVar

from channelsim.games.poker.arranging import commitment

Item = TypeVar("Item")

CARDS = 13

_TOPS = tuple(combinations(range(CARDS), 3))
_MIDDLES = tuple(combinations(range(CARDS - 3), 5))

COUNT = len(_TOPS) * len(_MIDDLES)
"""The number of arrangements: 72,072."""


def in_rows(number: int, items: Sequence[Item]) -> tuple[Item, ...]:
    """Thirteen items in the order of an arrangement, top row first.

    >>> in_rows(0, "abcdefghijklm") == tuple("abcdefghijklm"), in_rows(COUNT - 1, "abcdefghijklm")
    (True, ('k', 'l', 'm', 'f', 'g', 'h', 'i', 'j', 'a', 'b', 'c', 'd', 'e'))
    """
    tops, middles = divmod(number, len(_MIDDLES))
    top = _TOPS[tops]
    left = [place for place in range(CARDS) if place not in top]
    chosen = _MIDDLES[middles]
    middle = [left[at] for at in chosen]
    bottom = [place for at, place in enumerate(left) if at not in chosen]
    return tuple(items[place] for place in (*top, *middle, *bottom))


def number_of(top: Sequence[int], middle: Sequence[int]) -> int:
    """The number of an arrangement, from the places of the cards in the top and the middle row.

    >>> in_rows(number_of([12, 10, 11], [5, 6, 7, 8, 9]), range(13))[:8]
    (10, 11, 12, 5, 6, 7, 8, 9)
    """
    chosen = tuple(sorted(top))
    left = [place for place in range(CARDS) if place not in chosen]
    row = tuple(sorted(map(left.index, middle)))
    return _TOPS.index(chosen) * len(_MIDDLES) + _MIDDLES.index(row)


_ROWS_BELOW = tuple(
    itemgetter(*middle, *(place for place in range(CARDS - 3) if place not in middle))
    for middle in _MIDDLES
)
"""For each middle row, a function that puts the ten cards below the top in order."""


_orders: dict[bytes, bytes] = {}
"""The orders of the last commitments that were made here."""

KEPT = 256


def commit(order: bytes, salt: bytes) -> bytes:
    """Commit to an order of positions, and remember it for `committed_order`."""
    committed = commitment(order, salt)
    while len(_orders) >= KEPT:
        _orders.pop(next(iter(_orders), b""), None)
    _orders[committed] = order
    return committed


@lru_cache(maxsize=64)
def committed_order(positions: bytes, salt: bytes, committed: bytes) -> bytes | None:
    """The order of these positions that a commitment with this salt is of; None if there is none.

    A player finds a choice that is no longer remembered by trying all, which takes a tenth of a
    second.
    """
    known = _orders.get(committed, b"")
    if sorted(known) == sorted(positions) and commitment(known, salt) == committed:
        return known
    for top in _TOPS:
        left = [position for place, position in enumerate(positions) if place not in top]
        row = bytes(positions[place] for place in top)
        for below in _ROWS_BELOW:
            order = row + bytes(below(left))
            if commitment(order, salt) == committed:
                return order
    return None
