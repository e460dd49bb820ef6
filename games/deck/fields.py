"""Read the fields of a deck message: fixed lengths, checked before anything is computed."""

from __future__ import annotations

from channelsim.games.amounts import counted
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import Group
from channelsim.games.deck.lock_proof import proof_size
from channelsim.games.deck.shuffle_proof import answers_size
from channelsim.games.deck.terms import CARDS, HASH_SIZE, DeckTerms


class Fields:
    """The bytes of the message of a step, taken field by field.

    `bits` is the challenge that messages 4 and 5 answer. Raises `DeckFault` for a message of any
    other length (PD-2).
    """

    def __init__(
        self, group: Group, terms: DeckTerms, step: int, message: bytes, bits: bytes = b""
    ) -> None:
        self._group, self._terms, self._step, self._message = group, terms, step, message
        self._at = 0
        size = message_size(group, terms, step, bits)
        if len(message) != size:
            raise DeckFault(
                "PD-2", f"message {step} has {counted(len(message), 'byte')} instead of {size}"
            )

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start, self._at = self._at, self._at + size
        return self._message[start : self._at]

    def challenge(self) -> tuple[bytes, bytes]:
        """The bits of a challenge, and what hid them."""
        return self.take(self._terms.rounds // 8), self.take(HASH_SIZE)

    def shuffle(self) -> tuple[bytes, tuple[bytes, ...], tuple[bytes, ...]]:
        """A shuffle: the base under its mask, the pack, and the hash of each round of its proof."""
        (base,) = self._points(1, "mask key")
        pack = self._points(CARDS, "card")
        return base, pack, tuple(self.take(HASH_SIZE) for _ in range(self._terms.rounds))

    def locks(self) -> tuple[tuple[bytes, ...], tuple[bytes, ...], bytes]:
        """The locked cards, the keys of their locks, and the proof of the locks."""
        count = self._terms.positions
        locked = self._points(count, "locked card")
        return locked, self._points(count, "key"), self.take(proof_size(count))

    def _points(self, count: int, name: str) -> tuple[bytes, ...]:
        """The next points. Raises `DeckFault` (PD-1)."""
        points = tuple(self.take(self._group.point_size) for _ in range(count))
        for number, point in enumerate(points):
            if not self._group.is_point(point):
                raise DeckFault(
                    "PD-1", f"message {self._step}: {name} {number} is not a valid point"
                )
        return points


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
