"""What both players agree on before they make a deck, and the points that stand for its cards."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import Group

CARDS = 52
LEAST_ROUNDS = 40
"""A cheat in a shuffle stays unnoticed with a chance of one in 2 to this power."""

HASH_SIZE = 32


@dataclass(frozen=True, slots=True)
class DeckTerms:
    """The terms of one deck.

    `channel_id` is the launcher coin's id (32 bytes), `number` the deck's in its channel,
    `positions` how many cards can be locked (1 to 52), `rounds` the number of proof rounds (a
    multiple of 8, up to 248).
    """

    channel_id: bytes
    number: int
    positions: int
    rounds: int

    def __post_init__(self) -> None:
        sound = (
            len(self.channel_id) == HASH_SIZE
            and 0 <= self.number < 1 << 32
            and 1 <= self.positions <= CARDS
            and 8 <= self.rounds < 256
            and self.rounds % 8 == 0
        )
        if not sound:
            raise DeckFault("PD-8", f"terms out of bounds: {self}")

    @property
    def offer(self) -> bytes:
        """The terms but for the channel: the first 7 bytes of message 1."""
        return self.number.to_bytes(4, "big") + bytes((CARDS, self.positions, self.rounds))

    def encode(self) -> bytes:
        """The 39 bytes that are hashed."""
        return self.channel_id + self.offer


def decode_terms(data: bytes) -> DeckTerms:
    """Read the 39 bytes of terms. Raises `DeckFault`."""
    if len(data) != 39 or data[36] != CARDS:
        raise DeckFault("PD-8", "not the terms of a deck of 52 cards")
    return DeckTerms(data[:32], int.from_bytes(data[32:36], "big"), data[37], data[38])


def tag(name: str) -> bytes:
    """The 32 bytes that keep the hashes of one purpose apart from all others."""
    return sha256(b"deck1:" + name.encode()).digest()


def tagged_hash(name: str, *parts: bytes) -> bytes:
    """Hash parts of fixed lengths for one purpose."""
    return sha256(tag(name) + b"".join(parts)).digest()


def deck_id(terms: DeckTerms, receiver_nonce: bytes, initiator_nonce: bytes) -> bytes:
    """The id of a deck: 32 bytes that no two decks share."""
    return tagged_hash("id", terms.encode(), receiver_nonce, initiator_nonce)


def card_points(group: Group, deck: bytes) -> tuple[bytes, ...]:
    """The points that stand for the 52 cards of a deck, before anybody masks them."""
    return tuple(group.map(deck + bytes((card,))) for card in range(CARDS))
