"""A store that only the peer's keys can read, but for its overview.

It has the secrets of finished decks, what the player decides next, and what its seats remember. The
key follows from the channel's secret, so it is as safe as that: where a passphrase protects
`keys.json`, a stolen store shows none of it.

Everything is sealed for its place: an event for the snapshot that it follows and its number after
it, a state for its number, and a snapshot for the number of events in the opening. So bytes that
are unsealed, changed, or moved to another place are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.store.interface import Contents, PeerStore, StoreError

MARK = b"\xc1"
"""The first byte of what is sealed. No MessagePack begins with it."""

TAG = slice(len(MARK), len(MARK) + 16)
"""The place of the tag in what is sealed: it differs for each snapshot."""

NO_SNAPSHOT = bytes(16)
"""Stands for the tag of a snapshot before the first one."""

EVENT, SNAPSHOT, STATE = b"event", b"snapshot", b"state"

Place = tuple[bytes, ...]
"""A kind of bytes, and their place in the store."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The cipher of one channel; `name` is the store's.

    AES-SIV needs no nonce, so that nothing can go wrong with one when a peer is restored from an
    old copy: equal bytes at one place are sealed equally, and that is all that it shows.
    """

    name: str
    cipher: AESSIV

    @classmethod
    def of(cls, name: str, secret: bytes) -> Seal:
        """The seal of the channel with this secret."""
        return cls(name, AESSIV(derive(secret, "store", length=64)))

    def sealed(self, place: Place, data: bytes) -> bytes:
        """Seal bytes for their place."""
        return MARK + self.cipher.encrypt(data, list(place))

    def unsealed(self, place: Place, data: bytes) -> bytes:
        """Read what was sealed for this place. Raises `StoreError` for other bytes."""
        if not data.startswith(MARK):
            raise StoreError(f"{self.name}: damaged: its {place[0].decode()} is not sealed")
        try:
            return self.cipher.decrypt(data[len(MARK) :], list(place))
        except (InvalidTag, ValueError):
            raise StoreError(
                f"{self.name}: its {place[0].decode()} is sealed with other keys, or was changed"
            ) from None


class SealedStore:
    """A `PeerStore` that seals what it gives to another one; `secret` is the channel's."""

    def __init__(self, store: PeerStore, secret: bytes) -> None:
        self.name = store.name
        self._store = store
        self._seal = Seal.of(store.name, secret)
        self._opening = 0
        self._snapshot = b""
        self._states = self._events = 0

    def load(self) -> Contents:
        """Read what a restart needs. Raises `StoreError`."""
        found = self._store.load()
        if found.opening and not found.snapshot:
            raise StoreError(f"{self.name}: damaged: its snapshot is missing")
        self._opening = len(found.opening)
        self._snapshot = found.snapshot
        self._states, self._events = len(found.states), len(found.events)
        snapshot = b""
        if found.snapshot:
            snapshot = self._seal.unsealed(_of_snapshot(self._opening), found.snapshot)
        return Contents(
            tuple(map(self._seal.unsealed, _of_events(b""), found.opening)),
            snapshot,
            tuple(map(self._seal.unsealed, _of_states(), found.states)),
            tuple(map(self._seal.unsealed, _of_events(found.snapshot), found.events)),
        )

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Add events, and replace the overview, which is not sealed."""
        places = _of_events(self._snapshot, self._events)
        self._store.append(list(map(self._seal.sealed, places, events)), overview)
        self._events += len(events)

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Replace the snapshot, and add the states that are new to it."""
        opening = self._opening if self._snapshot else self._events
        sealed = self._seal.sealed(_of_snapshot(opening), snapshot)
        rows = list(map(self._seal.sealed, _of_states(self._states), states))
        self._store.save_snapshot(sealed, rows, erases=erases)
        self._opening, self._snapshot, self._events = opening, sealed, 0
        self._states += len(rows)

    def close(self) -> None:
        """Release the other store."""
        self._store.close()


def _of_events(snapshot: bytes, first: int = 0) -> Iterator[Place]:
    """The places of the events after a sealed snapshot, or before the first one (no bytes)."""
    tag = snapshot[TAG] or NO_SNAPSHOT
    return ((EVENT, tag, number.to_bytes(8, "big")) for number in count(first))


def _of_states(first: int = 0) -> Iterator[Place]:
    """The places of states, from this number on."""
    return ((STATE, number.to_bytes(8, "big")) for number in count(first))


def _of_snapshot(opening: int) -> Place:
    """The place of a snapshot in a store with so many events of the opening."""
    return SNAPSHOT, opening.to_bytes(8, "big")
