"""Deterministic randomness: the same bytes give the same choices on any machine."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """A stream of choices out of a seed: sha256 of the seed and a counter.

    >>> a, b = Chance(b"seed"), Chance(b"seed")
    >>> [a.below(6) for _ in range(5)] == [b.below(6) for _ in range(5)]
    True
    """

    __slots__ = ("_counter", "_seed")

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._counter = 0

    def below(self, n: int) -> int:
        """A number from 0 to n − 1 (n > 0), uniform but for a bias below 2^-64 × n."""
        if n <= 0:
            raise ValueError(f"below({n}): must be positive")
        size = 8 + (n.bit_length() + 7) // 8
        if size <= 32:
            block = sha256(self._seed + self._counter.to_bytes(8, "big")).digest()
            self._counter += 1
            return int.from_bytes(block[:size], "big") % n
        block = b""
        while len(block) < size:
            block += sha256(self._seed + self._counter.to_bytes(8, "big")).digest()
            self._counter += 1
        return int.from_bytes(block[:size], "big") % n

    def bytes(self, length: int) -> bytes:
        """`length` random bytes."""
        return self.below(1 << (8 * length)).to_bytes(length, "big")

    def between(self, least: int, most: int) -> int:
        """A number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items (at least one)."""
        return items[self.below(len(items))]

    def draw(self, items: Sequence[T], count: int) -> tuple[T, ...]:
        """Some of the items, each of them once at most, in any order."""
        left = list(items)
        return tuple(left.pop(self.below(len(left))) for _ in range(count))

    def chance(self, per_cent: int) -> bool:
        """True with this chance in per cent."""
        return self.below(100) < per_cent
