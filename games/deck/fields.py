"""Read the fields of a deck message: fixed lengths, checked before anything is computed."""

from __future__ import annotations

from channelsim.games.amounts import counted
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import Group
from channelsim.games.deck.lock_proof import proof_size
from channelsim.games.deck.shuffle_proof import answers_size
from channelsim.games.deck.terms import CARDS, HASH_SIZE, DeckTerms


class Fields:
    """The bytes of one message, taken field by field. Raises `DeckFault` for a wrong length (PD-2).

    >>> fields = Fields(3, b"abcdef", 6)
    >>> fields.take(2), fields.each(2, 2)
    (b'ab', [b'cd', b'ef'])
    """

    def __init__(self, step: int, message: bytes, size: int) -> None:
        self._step, self._message, self._at = step, message, 0
        if len(message) != size:
            raise DeckFault(
                "PD-2", f"message {step} has {counted(len(message), 'byte')} instead of {size}"
            )

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start, self._at = self._at, self._at + size
        return self._message[start : self._at]

    def each(self, count: int, size: int) -> list[bytes]:
        """The next fields of one size."""
        return [self.take(size) for _ in range(count)]

    def points(self, group: Group, count: int, name: str) -> tuple[bytes, ...]:
        """The next points. Raises `DeckFault` (PD-1)."""
        points = self.each(count, group.point_size)
        for number, point in enumerate(points):
            if not group.is_point(point):
                raise DeckFault(
                    "PD-1", f"message {self._step}: {name} {number} is not a valid point"
                )
        return tuple(points)

    def shuffle(
        self, group: Group, rounds: int
    ) -> tuple[bytes, tuple[bytes, ...], tuple[bytes, ...]]:
        """A shuffle: the base under its mask, the pack, and the hash of each round of its proof."""
        (base,) = self.points(group, 1, "mask key")
        pack = self.points(group, CARDS, "card")
        return base, pack, tuple(self.each(rounds, HASH_SIZE))

    def locks(
        self, group: Group, positions: int
    ) -> tuple[tuple[bytes, ...], tuple[bytes, ...], bytes]:
        """The locked cards, the keys of their locks, and the proof of the locks."""
        locked = self.points(group, positions, "locked card")
        keys = self.points(group, positions, "key")
        return locked, keys, self.take(proof_size(positions))


def message_size(group: Group, terms: DeckTerms, step: int, bits: bytes = b"") -> int:
    """The bytes of a step's message; 0 for no such step.

    `bits` is the challenge that messages 4 and 5 answer.
    """
    pack = group.point_size * (1 + CARDS) + HASH_SIZE * terms.rounds
    opened = terms.rounds // 8 + HASH_SIZE
    locks = 2 * group.point_size * terms.positions + proof_size(terms.positions)
    proved = answers_size(bits) + locks
    sizes = {
        1: len(terms.offer) + 2 * HASH_SIZE,
        2: 2 * HASH_SIZE + pack,
        3: opened + pack,
        4: opened + proved,
        5: proved,
    }
    return sizes.get(step, 0)
