"""A peer in a process of its own, with its store on disk, that is killed by SIGKILL.

The parent has a copy of the peer, which handles the same events: it knows the effects that the
process has to have, and compares them. After a kill it reads the store, which must hold the state
from before the event or from after it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, sleep

import msgspec

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.decks.pool import OpenDeck
from channelsim.channel.peer.interface import (
    Connected,
    Effect,
    Event,
    Proposed,
    Push,
    Send,
    Store,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.machine import Config, Peer
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.session.peer_driver import PeerStopped
from channelsim.channel.simulation.child_process import CONTEXT, ChildProcess
from channelsim.channel.simulation.killed_peer import EVENTS_PER_SNAPSHOT, LOST, Kill
from channelsim.channel.simulation.stages import Stage, stage_of
from channelsim.channel.store.decks import without_preparations
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import JournalEvent, Start
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.keys_file import read_keys, write_keys
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.system.interrupt import SIGNALS
from channelsim.games.chance import Chance
from channelsim.games.contract import Player

CONTEXT.set_forkserver_preload([__name__])


class ProcessPeer:
    """The actor of a peer that runs in a process, killed while it handles some events.

    `dies` decides at each event but the first, by its stage, whether to kill the process, `chance`
    when: at once, or up to a little later than an event usually takes.
    """

    def __init__(
        self, peer: Peer, directory: Path, dies: Callable[[Stage], bool], chance: Chance
    ) -> None:
        self.kills: list[Kill] = []
        self._peer = peer
        self._directory = directory
        self._dies = dies
        self._chance = chance
        self._process = ChildProcess("the peer's process", _serve, str(directory))
        self._events = 0
        self._usual = 0.01
        self._records: DurablePeer | None = None
        self._unheard: list[Effect] = []
        write_keys(directory, peer.config)

    def start(self, peak: int) -> list[Effect]:
        """Begin in a new process; or go on in one, from the store."""
        if self._records is not None:
            effects, self._records = self._records.start(peak), None
            self._process.begin()
            self._process.send(Start(peak))
            self._compare(self._process.receive(), effects)
            unheard, self._unheard = self._unheard, []
            return [*effects, *unheard]
        self._process.begin()
        before = self._peer.state
        return self._react(Start(peak), before, self._peer.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Let the process handle an event, or kill it meanwhile. Raises `PeerStopped`."""
        before = self._peer.state
        return self._react(event, before, self._peer.handle(event))

    def close(self) -> None:
        """End the process."""
        self._process.kill()

    # --- the process ---

    def _react(self, event: JournalEvent, before: PeerState, effects: list[Effect]) -> list[Effect]:
        number, self._events = self._events, self._events + 1
        begun = monotonic()
        self._process.send(event)
        stage = stage_of(before, event, effects, self._peer.state)
        if not isinstance(event, Start) and self._dies(stage):
            sleep(self._usual * self._chance.below(1500) / 1000)
            self._kill(number, stage, before, effects)
        self._compare(self._process.receive(), effects)
        self._usual = 0.9 * self._usual + 0.1 * (monotonic() - begun)
        return effects

    def _kill(self, number: int, stage: Stage, before: PeerState, effects: list[Effect]) -> None:
        """Kill the process, and find out from the store whether the event was stored."""
        self._process.kill()
        after, self._peer.state = self._peer.state, Peer(self._peer.config).state
        secret = self._peer.config.secret
        with closing(SealedStore(SqliteStore(self._directory), secret)) as store:
            # The copy of the process reads what the process will, and writes for itself.
            self._records = DurablePeer(self._peer, MemoryStore(store.load()))
        found, config = _lasting(self._peer.state), self._peer.config
        stored = found == _restarted(config, after)
        if not stored and found != _restarted(config, before):
            raise InvariantError(f"the store has neither the state before event {number} nor after")
        self.kills.append(Kill(number, 0 if stored else LOST, stage))
        self._unheard = [
            one
            for one in effects
            if stored and isinstance(one, Tell) and not isinstance(one.news, Proposed | YourTurn)
        ]
        raise PeerStopped(effects if stored else None)

    def _compare(self, digest: bytes, effects: Sequence[Effect]) -> None:
        if digest != effects_digest(effects):
            raise InvariantError("the process and its copy react differently to an event")


def effects_digest(effects: Sequence[Effect]) -> bytes:
    """The digest of all that a driver would send, push, store and watch."""
    lasting = [
        (type(one).__name__, one) for one in effects if isinstance(one, Send | Push | Store | Watch)
    ]
    asked = [
        one.news.game_id
        for one in effects
        if isinstance(one, Tell) and isinstance(one.news, YourTurn)
    ]
    return sha256(msgspec.msgpack.encode((lasting, asked))).digest()


def _restarted(config: Config, state: PeerState) -> PeerState:
    """A state as it has to be after a restart."""
    peer = Peer(config, without_preparations(state))
    peer.handle(Connected())
    return _lasting(peer.state)


def _lasting(state: PeerState) -> PeerState:
    """A state without what is not stored before something follows from it, its seats in order."""
    play = state.play
    if play is not None:
        # Answers to the steps of finished decks are not stored.
        ready = {number: OpenDeck(deck=deck) for number, deck in play.decks.ready.items()}
        play = msgspec.structs.replace(
            play,
            players=tuple(sorted(play.players, key=_game_id)),
            decks=replace(play.decks, decks=ready),
        )
    dispute = state.dispute
    if dispute is not None:
        dispute = msgspec.structs.replace(dispute, block=Block(0))
    return msgspec.structs.replace(
        state, block=Block(0), last_received=b"", play=play, dispute=dispute
    )


def _game_id(seat: tuple[int, Player]) -> int:
    return seat[0]


def _serve(directory: str, parent: Connection) -> None:
    """The process of a peer: it answers each event with the digest of its effects."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)  # the parent handles them, and kills us
    # A parent that ends takes its pipe with it, and perhaps the directory.
    with suppress(EOFError, ConnectionError, StoreError):
        config = read_keys(Path(directory))
        store = SealedStore(SqliteStore(Path(directory)), config.secret)
        peer = DurablePeer(Peer(config), store, EVENTS_PER_SNAPSHOT)
        while True:
            event: JournalEvent = parent.recv()
            effects = peer.start(event.peak) if isinstance(event, Start) else peer.handle(event)
            parent.send(effects_digest(effects))
