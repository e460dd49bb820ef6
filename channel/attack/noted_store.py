"""A store whose bytes are noted, so that those of erased secrets can be looked for in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from channelsim.channel.attack.store_duties import early_snapshot
from channelsim.channel.peer.interface import Effect, Erase
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.store.interface import Contents, PeerStore
from channelsim.channel.store.snapshots import can_be_saved
from channelsim.channel.store.sqlite_store import FILE

CHUNK = 40
"""Bytes by which something sealed is known again."""


@dataclass(slots=True)
class SealedSecrets:
    """The sealed bytes that have the secrets of decks, as a side has written them in all its lives.

    Those of a deck are `erased` once the peer has said so, and then could take a snapshot.
    """

    rows: list[bytes] = field(default_factory=list)
    snapshots: list[bytes] = field(default_factory=list)
    by_deck: dict[int, list[bytes]] = field(default_factory=dict)
    due: list[bytes] = field(default_factory=list)
    erased: list[bytes] = field(default_factory=list)

    def follow(
        self, before: PeerState, after: PeerState, effects: Sequence[Effect], *, started: bool
    ) -> None:
        """Follow an event that is stored; `started`: it was the start of a process."""
        rows, self.rows = self.rows, []
        snapshots, self.snapshots = self.snapshots, []
        if not started and can_be_saved(before):
            self.erase()
        # A snapshot has the decks from before the event, and what is written after it the new ones.
        for number in decks(before) | decks(after) if rows else ():
            self.by_deck.setdefault(number, []).extend(rows)
        for number in decks(before) if snapshots else ():
            self.by_deck.setdefault(number, []).extend(snapshots)
        for effect in effects:
            if isinstance(effect, Erase):
                self.due += self.by_deck.pop(effect.number, [])

    def erase(self) -> None:
        """Take note that a snapshot is taken: what is due has to be gone."""
        self.erased += self.due
        self.due = []

    def left_in(self, data: bytes) -> bool:
        """True if a file still has some of what is erased."""
        return any(
            row[at : at + CHUNK] in data
            for row in self.erased
            for at in (len(row) // 3, 2 * len(row) // 3)
            if len(row) > 3 * CHUNK
        )


def decks(state: PeerState) -> set[int]:
    """The numbers of the finished decks whose secrets a peer has."""
    return {*state.endpoint.decks} if state.endpoint is not None else set()


class NotedStore:
    """A `PeerStore` that notes what it gives to another one; `contents` are what that one has.

    `before` are those that the last snapshot of this process replaced.
    A snapshot is due after so many events; `found` hears of one that comes earlier, and of erased
    secrets that it leaves in the store's folder.
    """

    def __init__(
        self,
        store: PeerStore,
        secrets: SealedSecrets,
        snapshots: int = 0,
        found: Callable[[str], None] = lambda how: None,
        folder: Path | None = None,
    ) -> None:
        self.name = store.name
        self.contents = self.before = Contents()
        self._store, self._secrets = store, secrets
        self._snapshots, self._found, self._folder = snapshots, found, folder

    def load(self) -> Contents:
        """Read what a restart needs. Raises `StoreError`."""
        self.contents = self._store.load()
        return self.contents

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Add events, and replace the overview."""
        self._secrets.rows += events
        self._store.append(events, overview)
        self.contents = replace(self.contents, events=(*self.contents.events, *events))

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Replace the snapshot, and add the states that are new to it."""
        self._secrets.snapshots.append(snapshot)
        self._store.save_snapshot(snapshot, states, erases=erases)
        if erases and self._folder is not None:
            self._secrets.erase()
            for path in sorted(self._folder.glob(f"{FILE}*")):
                if self._secrets.left_in(path.read_bytes()):
                    self._found(f"leaves secrets in {path.name} with the snapshot that erases them")
        self.before = had = self.contents
        if had.snapshot:
            for how in early_snapshot(len(had.events), self._snapshots, erases=erases):
                self._found(how)
        opening = had.opening if had.snapshot else had.events
        self.contents = Contents(opening, snapshot, (*had.states, *states))

    def close(self) -> None:
        """Release the other store."""
        self._store.close()
