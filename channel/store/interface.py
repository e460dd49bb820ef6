"""The interface of a store: what a durable peer asks of a disk, or of memory in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from channelsim.channel.errors import UsageError


class StoreError(UsageError):
    """The store cannot be used: one line with its path, the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a store, as a restart reads them.

    `opening` are the events up to the first snapshot, and `events` those since the last one.
    Without a snapshot, `events` are all of them. `states` are the encoded states of the
    snapshot, by ascending number.
    """

    opening: tuple[bytes, ...] = ()
    snapshot: bytes = b""
    states: tuple[bytes, ...] = ()
    events: tuple[bytes, ...] = ()


class PeerStore(Protocol):
    """Durable memory of one peer. Each call is done whole or not at all, and lasts once it returns.

    Raises `StoreError` where the bytes cannot be written or read. `name` is its place, for people.
    """

    name: str

    def load(self) -> Contents:
        """Read what a restart needs."""
        ...

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Add events, and replace the overview that is read without keys, unless it is empty."""
        ...

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Replace the snapshot by one of all events so far, and add the states that are new to it.

        The events of the first snapshot remain, as the opening; later ones are removed. With
        `erases`, none of the removed bytes is left in any file.
        """
        ...

    def close(self) -> None:
        """Release what the store holds."""
        ...
