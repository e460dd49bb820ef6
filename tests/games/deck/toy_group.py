"""A small group, in which decks are made quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha512


@dataclass(frozen=True)
class ToyGroup:
    """The squares modulo a 64-bit safe prime: quick, and **not secure**.

    >>> group = ToyGroup()
    >>> group.is_point(group.base), group.is_point(bytes(8))
    (True, False)
    """

    prime: int = 0xFFFFFFFFFFFFFA43
    point_size: int = 8

    @property
    def order(self) -> int:
        """Half of the numbers modulo the prime are squares."""
        return self.prime // 2

    @property
    def base(self) -> bytes:
        """The same message as in `G1`."""
        return self.map(b"deck1:H")

    def is_point(self, data: bytes) -> bool:
        """True if this is a square modulo the prime, in 8 bytes, other than 1."""
        number = int.from_bytes(data, "big")
        return (
            len(data) == self.point_size
            and 1 < number < self.prime
            and pow(number, self.order, self.prime) == 1
        )

    def map(self, message: bytes) -> bytes:
        """The square of the message's hash."""
        return self._point(pow(int.from_bytes(sha512(message).digest(), "big"), 2, self.prime))

    def multiply(self, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Written as addition, the group's operation is multiplication of numbers."""
        return [self._point(pow(self._number(point), k, self.prime)) for k, point in products]

    def subtract(self, differences: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Divide numbers."""
        return [
            self._point(self._number(one) * pow(self._number(other), -1, self.prime) % self.prime)
            for one, other in differences
        ]

    def _number(self, point: bytes) -> int:
        return int.from_bytes(point, "big")

    def _point(self, number: int) -> bytes:
        return number.to_bytes(self.point_size, "big")
