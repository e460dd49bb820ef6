"""Time batches of peers with their stores on disk against the same without a store.

Times are of the processor. The store also waits for the disk once for each write: how long that
takes depends on the disk, and is a figure of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import Contents
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from scripts.tools.bench.measuring import Figures, repeated
from scripts.tools.bench.sessions import is_batch, usual_setup

HANDS = 4
SYNCS = 40
"""Writes of a row's size whose synchronisation is timed."""


@dataclass(slots=True)
class _Counted:
    """A store on disk that counts its synchronised writes."""

    store: SqliteStore
    writes: int = 0
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.store.name

    def load(self) -> Contents:
        """Load the store."""
        return self.store.load()

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Append, and count the write."""
        self.store.append(events, overview)
        self.writes += 1

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Save a snapshot, and count the write."""
        self.store.save_snapshot(snapshot, states, erases=erases)
        self.writes += 1

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def measure_stored(game: str, seed: str, seconds: float, least: int) -> Figures:
    """Compare the processor time of a batch with and without stores on disk.

    `sync_milliseconds` is the wait of one write for the disk, and `writes_per_batch` their number.
    """

    def measure(number: int) -> dict[str, float]:
        """Measure a session without stores, and again with them."""
        setup = usual_setup(game, f"{seed} {number}", HANDS)
        bare, _ = _play(setup, lambda peer: peer)
        with TemporaryDirectory(prefix="channelsim-") as folder, ExitStack() as stack:
            stores: list[_Counted] = []

            def wrap(peer: Peer) -> Actor:
                """Give a peer its store."""
                store = _Counted(SqliteStore(Path(folder) / peer.config.name))
                stores.append(stack.enter_context(closing(store)))
                return DurablePeer(peer, SealedStore(store, peer.config.secret))

            stored, counts = _play(setup, wrap, lambda: sum(store.writes for store in stores))
            sync = _seconds_to_sync(Path(folder))
        return {
            "ratio": stored / bare,
            "sync_milliseconds": sync * 1000,
            "writes_per_batch": (counts[-1] - counts[0]) / (len(counts) - 1),
        }

    return repeated(seconds, least, measure)


def _play(
    setup: Setup, wrap: Callable[[Peer], Actor], count: Callable[[], int] = lambda: 0
) -> tuple[float, list[int]]:
    """Play a session; the processor's seconds from its first batch to the last, and `count` at
    each.
    """
    marks: list[tuple[float, int]] = []

    def listen(event: SessionEvent) -> None:
        """Note the time of each batch."""
        if is_batch(event):
            marks.append((process_time(), count()))

    Session(Deciders(setup), [listen], wrap=wrap).run()
    return marks[-1][0] - marks[0][0], [counted for _, counted in marks]


def _seconds_to_sync(folder: Path) -> float:
    """Time the synchronisation of a small write with the disk, in seconds."""
    total = 0.0
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(4096))
            begun = perf_counter()
            os.fsync(file.fileno())
            total += perf_counter() - begun
    return total / SYNCS
