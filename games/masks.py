"""Selections: one byte whose bit i (bit 0 is the least significant) stands for card i.

A mask byte is an unsigned number here. In CLVM a byte with the top bit set is negative, so masks
are read from bytes and never from a CLVM integer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from operator import itemgetter
from typing import Any

from channelsim.clsp.values import Value


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
