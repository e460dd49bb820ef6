"""A store in memory, for simulations: it outlives a peer, and not the process."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.store.interface import Contents


class MemoryStore:
    """A `PeerStore` that keeps everything in lists, from these contents on.

    >>> store = MemoryStore()
    >>> store.append([b"1", b"2"])
    >>> store.save_snapshot(b"both", [b"state 0"])
    >>> store.append([b"3"])
    >>> store.load()
    Contents(opening=(b'1', b'2'), snapshot=b'both', states=(b'state 0',), events=(b'3',))
    """

    def __init__(self, contents: Contents | None = None) -> None:
        contents = contents or Contents()
        self.name = "a store in memory"
        self._opening = [*contents.opening]
        self._events = [*contents.events]
        self._snapshot = contents.snapshot
        self._states = [*contents.states]
        self.overview = b""

    def load(self) -> Contents:
        """Read everything."""
        return Contents(
            tuple(self._opening),
            self._snapshot,
            tuple(self._states),
            tuple(self._events),
        )

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Add events, and replace the overview."""
        self._events += events
        self.overview = overview or self.overview

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Replace the snapshot; only the first one keeps its events."""
        if not self._snapshot:
            self._opening = self._events
        self._events = []
        self._snapshot = snapshot
        self._states += states

    def close(self) -> None:
        """Keep everything: the next peer opens the same object."""
