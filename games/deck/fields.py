"""Read the fields of a deck message: fixed lengths, checked before anything is computed."""

from __future__ import annotations

from channelsim.games.amounts import counted
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import Group


class Fields:
    """The bytes of one message, taken field by field.

    >>> fields = Fields(3, b"abcdef", 6)
    >>> fields.take(2), fields.each(2, 2)
    (b'ab', [b'cd', b'ef'])
    """

    def __init__(self, step: int, message: bytes, size: int) -> None:
        self._step, self._message, self._at = step, message, 0
        check_size(step, message, size)

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start, self._at = self._at, self._at + size
        return self._message[start : self._at]

    def each(self, count: int, size: int) -> list[bytes]:
        """The next fields of one size."""
        return [self.take(size) for _ in range(count)]

    def points(self, group: Group, count: int, name: str) -> tuple[bytes, ...]:
        """The next points. Raises `DeckFault` (PD-1)."""
        found = self.each(count, group.point_size)
        for number, point in enumerate(found):
            if not group.is_point(point):
                raise DeckFault(
                    "PD-1", f"message {self._step}: {name} {number} is not a valid point"
                )
        return tuple(found)


def check_size(step: int, message: bytes, size: int) -> None:
    """Check the length of a message. Raises `DeckFault` (PD-2)."""
    if len(message) != size:
        raise DeckFault(
            "PD-2", f"message {step} has {counted(len(message), 'byte')} instead of {size}"
        )
