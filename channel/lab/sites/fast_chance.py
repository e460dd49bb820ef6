"""Deterministic choices for inner loops: as reproducible as `games.chance`, and many times faster.

Of `random.Random`, only the sequence of `random()` for an integer seed is guaranteed to stay the
same in every version of Python (the Mersenne Twister). Everything here is made from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

_PIECE = 6
"""Bytes that are read off one fraction: 48 of its 53 bits."""


class FastChance:
    """A stream of choices from a seed. `random` returns a fraction, at least 0 and below 1.

    >>> chance = FastChance(b"seed")
    >>> [chance.below(6) for _ in range(8)], chance.bytes(4).hex()
    ([5, 4, 2, 1, 5, 3, 1, 3], '5c9ae67c')
    """

    __slots__ = ("random",)

    def __init__(self, seed: bytes) -> None:
        self.random: Callable[[], float] = Random(int.from_bytes(seed, "big")).random

    def bytes(self, length: int) -> bytes:
        """A byte string of this length."""
        pieces = [
            int(self.random() * (1 << 8 * _PIECE)).to_bytes(_PIECE, "big")
            for _ in range(-(-length // _PIECE))
        ]
        return b"".join(pieces)[:length]

    def below(self, n: int) -> int:
        """A number from 0 to n - 1 (n > 0), uniform but for a bias below 2^-20."""
        if n <= 1 << 32:
            return int(self.random() * n)
        return int.from_bytes(self.bytes(n.bit_length() // 8 + 4), "big") % n

    def between(self, least: int, most: int) -> int:
        """A number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items (at least one)."""
        return items[int(self.random() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in a random order."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            at = int(self.random() * (last + 1))
            mixed[at], mixed[last] = mixed[last], mixed[at]
        return mixed
