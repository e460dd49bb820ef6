"""Measure a channel of many batches with its data directories: restart, disk, memory, looks."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import Listener, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.watch_data import FOLDER as WATCH
from channelsim.games import registry
from scripts.tools.bench.hidden_look import measure_hidden_look
from scripts.tools.bench.measuring import Figures
from scripts.tools.bench.sessions import is_batch, usual_setup

GAME = registry.DEFAULT

SETTLED = 5
"""Memory is compared with that after one in so many batches, when everything is loaded."""

RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""The bytes in which the system counts memory."""


FEW = 10
"""Batches of the channel with which looks at a hidden solution are compared."""


class _Enough(Exception):
    """As many batches are played as are wanted."""


def measure_long_channel(seed: str, batches: int) -> Figures:
    """Play so many batches, in hand after hand, and stop in the middle of one.

    `restart_seconds` is the time in which the initiator comes back, `restart_processor_seconds` the
    processor's share of that, `bytes_per_batch` the disk that it takes, and `memory_per_batch` the
    bytes by which this process, with both peers and their node, grows with each batch, by half.
    `hidden_solution` are the node calls of the initiator when the receiver publishes its oldest
    state and the node hides the solution, in a short channel and in this one.
    """
    memory: list[int] = []
    sent = 0

    def count(event: SessionEvent) -> None:
        """Count batches, and end the session after enough of them."""
        nonlocal sent
        if not is_batch(event):
            return
        sent += 1
        if sent in (batches // SETTLED, batches):
            memory.append(getrusage(RUSAGE_SELF).ru_maxrss * RSS_UNIT)
        if sent == batches:
            raise _Enough

    with TemporaryDirectory(prefix="channelsim-") as folder:
        begun = perf_counter()
        played_out = _play(Path(folder), usual_setup(GAME, seed, batches), count)
        played = perf_counter() - begun
        config, directory = played_out.configs[0], played_out.directories[0]
        size = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
        begun, worked = perf_counter(), process_time()
        with ExitStack() as stack:
            _stored(Peer(config), directory, stack).start(0)
            restart, worked = perf_counter() - begun, process_time() - worked
        looks = _looks(played_out, usual_setup(GAME, seed, batches), Path(folder) / "few")
    return {
        "batches": sent,
        "seconds": round(played, 1),
        "restart_seconds": round(restart, 3),
        "restart_processor_seconds": round(worked, 3),
        "bytes_per_batch": round(size / sent),
        "memory_per_batch": round((memory[-1] - memory[0]) / (sent - sent // SETTLED) / 2),
        "hidden_solution": looks,
    }


@dataclass(frozen=True, slots=True)
class _PlayedOut:
    """A channel in the middle of a hand, with both sides' stores, the initiator's first."""

    chain: SimulatedChain
    configs: list[Config]
    directories: list[Path]


def _looks(long: _PlayedOut, setup: Setup, folder: Path) -> list[Figures]:
    """Looks at a hidden solution in a channel of few batches, and in this one."""
    sent = 0

    def count(event: SessionEvent) -> None:
        """Count batches, and end the session after enough of them."""
        nonlocal sent
        sent += is_batch(event)
        if sent == FEW:
            raise _Enough

    few = _play(folder, setup, count)
    # At the same height, so that the node's answers are of the same length.
    few.chain.farm(long.chain.peak() - few.chain.peak())
    return [_look(few), _look(long)]


def _look(played: _PlayedOut) -> Figures:
    """A look of the initiator after the receiver has published its oldest state."""
    with ExitStack() as stack:
        peers = [Peer(config) for config in played.configs]
        actors = [
            _stored(peer, directory, stack)
            for peer, directory in zip(peers, played.directories, strict=True)
        ]
        return measure_hidden_look(played.chain, peers[0], actors[0], peers[1])


def _play(folder: Path, setup: Setup, listen: Listener) -> _PlayedOut:
    """Play until the listener has enough."""
    configs: list[Config] = []
    chain = SimulatedChain(node_seed(setup.seed.encode()))
    with ExitStack() as stack:

        def wrap(peer: Peer) -> Actor:
            """Give a peer its store."""
            configs.append(peer.config)
            return _stored(peer, folder / peer.config.name, stack)

        with suppress(_Enough):
            Session(Deciders(setup), [listen], chain, wrap=wrap).run()
    return _PlayedOut(chain, configs, [folder / config.name for config in configs])


def _stored(peer: Peer, directory: Path, stack: ExitStack) -> WatchedPeer:
    """A peer with its store and the data of its watcher, which the stack closes."""
    store = stack.enter_context(closing(SqliteStore(directory)))
    durable = DurablePeer(peer, SealedStore(store, peer.config.secret))
    return stack.enter_context(closing(WatchedPeer(durable, directory / WATCH)))
