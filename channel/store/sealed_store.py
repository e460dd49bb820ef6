"""A store whose events, snapshots and decks only the peer's keys can read.

They have the secrets of finished decks, and what the player decides next. The key follows from the
channel's secret, so it is as safe as that: where a passphrase protects `keys.json`, a stolen store
shows neither. States and their records stay readable: both sides know them.

Everything is sealed for its place: a record for its name, an event for the snapshot that it follows
and its number after it, and a snapshot for the number of events in the opening. So bytes that are
unsealed, changed, or moved to another place are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.store.interface import Contents, PeerStore, StoreError, of_a_state
from channelsim.channel.store.sqlite_store import VERSION, SqliteStore

MARK = b"\xc1"
"""The first byte of what is sealed. No MessagePack begins with it."""

TAG = slice(len(MARK), len(MARK) + 16)
"""The place of the tag in what is sealed: it differs for each snapshot."""

NO_SNAPSHOT = bytes(16)
"""Stands for the tag of a snapshot before the first one."""

EVENT, SNAPSHOT = b"event", b"snapshot"

UNSEALED = 1
"""The version of the file that began without seals."""

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
    """A `PeerStore` that seals what it gives to another one; `secret` is the channel's.

    Use `sealed_file` for a file, which an older version may have written.
    """

    def __init__(self, store: PeerStore, secret: bytes) -> None:
        self.name = store.name
        self._store = store
        self._seal = Seal.of(store.name, secret)
        self._opening = 0
        self._snapshot = b""
        self._events = 0

    def load(self) -> Contents:
        """Read what a restart needs. Raises `StoreError`."""
        found = self._store.load()
        if found.opening and not found.snapshot:
            raise StoreError(f"{self.name}: damaged: its snapshot is missing")
        self._opening = len(found.opening)
        self._snapshot = found.snapshot
        self._events = len(found.events)
        snapshot = b""
        if found.snapshot:
            snapshot = self._seal.unsealed(_of_snapshot(self._opening), found.snapshot)
        return Contents(
            tuple(map(self._seal.unsealed, _of_events(b""), found.opening)),
            snapshot,
            found.states,
            tuple(map(self._seal.unsealed, _of_events(found.snapshot), found.events)),
            {
                name: self._seal.unsealed(_of_record(name), data)
                for name, data in found.records.items()
            },
        )

    def append(self, events: Sequence[bytes], records: Sequence[tuple[str, bytes]]) -> None:
        """Add events, and replace records."""
        self._store.append(
            list(map(self._seal.sealed, _of_events(self._snapshot, self._events), events)),
            [
                (
                    name,
                    self._seal.sealed(_of_record(name), data) if _is_sealed(name, data) else data,
                )
                for name, data in records
            ],
        )
        self._events += len(events)

    def save_snapshot(self, snapshot: bytes, states: Sequence[bytes]) -> None:
        """Replace the snapshot, and add the states that are new to it."""
        opening = self._opening if self._snapshot else self._events
        sealed = self._seal.sealed(_of_snapshot(opening), snapshot)
        self._store.save_snapshot(sealed, states)
        self._opening, self._snapshot, self._events = opening, sealed, 0

    def close(self) -> None:
        """Release the other store."""
        self._store.close()


def sealed_file(file: SqliteStore, secret: bytes) -> SealedStore:
    """The sealed store in a file. What an older version wrote is first sealed anew, at once.

    Raises `StoreError`.
    """
    if file.version < VERSION:
        file.rewrite(_sealed_anew(file, Seal.of(file.name, secret)))
    return SealedStore(file, secret)


def _sealed_anew(file: SqliteStore, seal: Seal) -> Contents:
    """The contents of a file of an older version, as this version has them."""

    def read(kind: bytes, data: bytes) -> bytes:
        # Version 1 began without seals, and older versions sealed for a kind, and not for a place.
        bare = file.version <= UNSEALED and not data.startswith(MARK)
        return data if bare else seal.unsealed((kind,), data)

    found = file.load()
    snapshot = b""
    if found.snapshot:
        plain = read(SNAPSHOT, found.snapshot)
        snapshot = seal.sealed(_of_snapshot(len(found.opening)), plain)
    opening, events = (
        tuple(
            seal.sealed(place, read(EVENT, data))
            for place, data in zip(_of_events(before), rows, strict=False)
        )
        for before, rows in ((b"", found.opening), (snapshot, found.events))
    )
    records = {
        name: seal.sealed(_of_record(name), read(name.encode(), data))
        for name, data in found.records.items()
    }
    return Contents(opening, snapshot, found.states, events, records)


def _of_events(snapshot: bytes, first: int = 0) -> Iterator[Place]:
    """The places of the events after a sealed snapshot, or before the first one (no bytes)."""
    tag = snapshot[TAG] or NO_SNAPSHOT
    while True:
        yield EVENT, tag, first.to_bytes(8, "big")
        first += 1


def _of_snapshot(opening: int) -> Place:
    """The place of a snapshot in a store with so many events of the opening."""
    return SNAPSHOT, opening.to_bytes(8, "big")


def _of_record(name: str) -> Place:
    return (name.encode(),)


def _is_sealed(name: str, data: bytes) -> bool:
    """True if a record is sealed: empty bytes only remove one."""
    return bool(data) and not of_a_state(name)
