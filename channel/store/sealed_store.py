"""A store whose events, snapshots and decks only the peer's keys can read.

They have the secrets of finished decks, and what the player decides next. The key follows from the
channel's secret, so it is as safe as that: where a passphrase protects `keys.json`, a stolen store
shows neither. States and their records stay readable: both sides know them.
"""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.store.interface import Contents, PeerStore, StoreError, of_a_state

MARK = b"\xc1"
"""The first byte of what is sealed. No MessagePack begins with it: older stores stay readable."""

EVENT, SNAPSHOT = b"event", b"snapshot"


class SealedStore:
    """A `PeerStore` that seals what it gives to another one; `secret` is the channel's.

    AES-SIV needs no nonce, so that nothing can go wrong with one when a peer is restored from an
    old copy: equal bytes are sealed equally, and that is all that it shows.
    """

    def __init__(self, store: PeerStore, secret: bytes) -> None:
        self.name = store.name
        self._store = store
        self._cipher = AESSIV(derive(secret, "store", length=64))

    def load(self) -> Contents:
        """Read what a restart needs."""
        found = self._store.load()
        return Contents(
            tuple(self._unsealed(EVENT, one) for one in found.opening),
            self._unsealed(SNAPSHOT, found.snapshot),
            found.states,
            tuple(self._unsealed(EVENT, one) for one in found.events),
            {name: self._unsealed(name.encode(), data) for name, data in found.records.items()},
        )

    def append(self, events: Sequence[bytes], records: Sequence[tuple[str, bytes]]) -> None:
        """Add events, and replace records."""
        self._store.append(
            [self._sealed(EVENT, one) for one in events],
            [
                (name, data if of_a_state(name) else self._sealed(name.encode(), data))
                for name, data in records
            ],
        )

    def save_snapshot(self, snapshot: bytes, states: Sequence[bytes]) -> None:
        """Replace the snapshot, and add the states that are new to it."""
        self._store.save_snapshot(self._sealed(SNAPSHOT, snapshot), states)

    def close(self) -> None:
        """Release the other store."""
        self._store.close()

    def _sealed(self, kind: bytes, data: bytes) -> bytes:
        """Seal bytes of a kind; empty ones have nothing to hide, and remove a record."""
        return MARK + self._cipher.encrypt(data, [kind]) if data else b""

    def _unsealed(self, kind: bytes, data: bytes) -> bytes:
        if not data.startswith(MARK):
            return data
        try:
            return self._cipher.decrypt(data[len(MARK) :], [kind])
        except (InvalidTag, ValueError):
            raise StoreError(
                f"{self.name}: its {kind.decode()} is sealed with other keys, or was changed"
            ) from None
