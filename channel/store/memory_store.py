"""A store in memory, for simulations: it outlives a peer, and not the process."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.store.interface import Contents, of_a_state


class MemoryStore:
    """A `PeerStore` that keeps everything in lists, from these contents on.

    >>> store = MemoryStore()
    >>> store.append([b"1", b"2"], [("name", b"old")])
    >>> store.save_snapshot(b"both", [b"state 0"])
    >>> store.append([b"3"], [("name", b"new")])
    >>> contents = store.load()
    >>> contents.opening, contents.snapshot, contents.events, contents.records["name"]
    ((b'1', b'2'), b'both', (b'3',), b'new')
    """

    def __init__(self, contents: Contents | None = None) -> None:
        contents = contents or Contents()
        self.name = "a store in memory"
        self._opening = [*contents.opening]
        self._events = [*contents.events]
        self._snapshot = contents.snapshot
        self._states = [*contents.states]
        self._records = {**contents.records}

    def load(self) -> Contents:
        """Read everything."""
        return Contents(
            tuple(self._opening),
            self._snapshot,
            tuple(self._states),
            tuple(self._events),
            {name: data for name, data in self._records.items() if not of_a_state(name)},
        )

    def append(self, events: Sequence[bytes], records: Sequence[tuple[str, bytes]]) -> None:
        """Add events and replace records."""
        self._events += events
        for name, data in records:
            self._records[name] = data
            if not data:
                del self._records[name]

    def save_snapshot(self, snapshot: bytes, states: Sequence[bytes]) -> None:
        """Replace the snapshot; only the first one keeps its events."""
        if not self._snapshot:
            self._opening = self._events
        self._events = []
        self._snapshot = snapshot
        self._states += states

    def close(self) -> None:
        """Keep everything: the next peer opens the same object."""
