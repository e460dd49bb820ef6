"""A node and a peer in processes of their own, with their stores on disk, killed by SIGKILL.

The parent has a copy of the peer, which handles the same events: it knows the effects that the
process has to have, and compares them. After a kill it reads the store, which must hold the state
from before the event or from after it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import msgspec

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import Block, CoinSeen, PendingBundle
from channelsim.channel.chain.simulator import PUBLIC_LIKE, NodeSettings
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.decks.pool import OpenDeck
from channelsim.channel.peer.interface import (
    Connected,
    Effect,
    Erase,
    Event,
    Push,
    Send,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.machine import Config, Peer
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.session.peer_driver import PeerStopped
from channelsim.channel.simulation.killed_peer import (
    EVENTS_PER_SNAPSHOT,
    LOST,
    Kill,
    Stage,
    stage_of,
    untold,
)
from channelsim.channel.store.decks import without_preparations
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import JournalEvent, Start
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.keys_file import read_keys, write_keys
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.system.interrupt import SIGNALS, held
from channelsim.games.chance import Chance

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])

ANSWER_TIME = 60.0
"""Seconds in which a process has to answer; it needs milliseconds."""

KILLED = "killed"
"""The answer of a process that was killed."""


class ChildProcess:
    """Runs `serve(*args, pipe)` in a process, once it is begun, and again after a kill.

    `name` is for messages. `usual` is about the time that an answer takes, in seconds.
    """

    def __init__(
        self, name: str, serve: Callable[..., None], *args: object, usual: float = 0.01
    ) -> None:
        self._name = name
        self._serve = serve
        self._args = args
        self._usual = usual
        self._process: ForkServerProcess | None = None
        self._pipe: Connection | None = None

    def begin(self) -> None:
        """Begin the process."""
        with held():
            self._pipe, theirs = CONTEXT.Pipe()
            self._process = CONTEXT.Process(target=self._serve, args=(*self._args, theirs))
            self._process.start()
            theirs.close()

    def kill(self) -> None:
        """Kill the process by SIGKILL, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def send(self, message: object) -> None:
        """Send an object to the process."""
        if self._pipe is None:
            raise InvariantError(f"{self._name} is not running")
        self._pipe.send(message)

    def receive(self) -> Any:
        """The next object from the process.

        Raises an error that the process sends, and `InvariantError` if it has ended or hangs.
        """
        if self._pipe is None or not self._pipe.poll(ANSWER_TIME):
            raise InvariantError(f"{self._name} does not answer within {ANSWER_TIME:g} s")
        try:
            answer = self._pipe.recv()
        except (EOFError, ConnectionError):
            raise InvariantError(f"{self._name} ended by itself") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask(self, question: object) -> Any:
        """Send an object to the process, and receive its answer."""
        self.send(question)
        return self.receive()

    def ask_or_kill(self, question: object, dies: Callable[[], bool], chance: Chance) -> Any:
        """The answer to an object; `KILLED` if the process `dies` while it works on that.

        It is killed at once, or up to a little later than an answer usually takes.
        """
        begun = monotonic()
        self.send(question)
        if dies():
            sleep(self._usual * chance.below(1500) / 1000)
            self.kill()
            return KILLED
        answer = self.receive()
        self._usual = 0.9 * self._usual + 0.1 * (monotonic() - begun)
        return answer


def ignore_signals() -> None:
    """Leave interrupts to the parent, which handles them and kills its processes."""
    for signal_number in SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)


# --- a node --------------------------------------------------------------------------------------


class ProcessNode:
    """A `FarmableChain` whose process is killed during some changes, and comes back from its log.

    `dies` decides at each change whether to kill it, `chance` when: at once, or up to a little
    later than a change usually takes. A change that was lost with it is made again; the log has
    each whole or not at all. With `serves`, the node's RPC is at `url` until it is killed.
    """

    def __init__(
        self,
        path: Path,
        seed: int,
        dies: Callable[[], bool],
        chance: Chance,
        *,
        settings: NodeSettings = PUBLIC_LIKE,
        serves: bool = False,
    ) -> None:
        self.kills = 0
        self.url = ""
        self._dies = dies
        self._chance = chance
        args = path, seed, settings, serves
        self._process = ChildProcess("the node's process", _serve_node, *args, usual=0.005)
        self._begin()

    def close(self) -> None:
        """End the process."""
        self._process.kill()

    # --- a chain whose blocks the caller makes ---

    def peak(self) -> int:
        """The height of the tip."""
        return int(self._ask("peak"))

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        return bytes(self._ask("agg_sig_data"))

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id; None if the chain has none."""
        seen: CoinSeen | None = self._ask("coin", coin_id)
        return seen

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return list(self._ask("coins_at", puzzle_hash))

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        return list(self._ask("children", coin_id))

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        return list(self._ask("pending", coin_id))

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        return int(self._ask("fee_rate"))

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        result = self._change("push", bundle)
        if not isinstance(result, PushResult):
            # A repeat of a pending bundle is accepted again.
            return self.push(bundle)
        return result

    def farm(self, blocks: int = 1) -> None:
        """Make blocks with the bundles of the mempool."""
        self._to_height(self.peak() + blocks, "farm", blocks)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last `back` blocks by `new` others."""
        height = self.peak() - back + new
        self._to_height(height, "reorganise", back, new, keep=keep, bundle=bundle)

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A block reward at this address."""
        coin: Coin = self._ask("give", puzzle_hash, amount)
        return coin

    # --- the process ---

    def _to_height(self, height: int, name: str, *args: object, **options: object) -> None:
        before = self.peak()
        while (peak := self.peak()) != height:
            if peak != before:
                raise InvariantError(f"the node came back at height {peak}, not {before}")
            self._change(name, *args, **options)

    def _change(self, name: str, *args: object, **options: object) -> Any:
        """Let the process make a change, or kill it meanwhile: then the result is `KILLED`."""
        answer = self._process.ask_or_kill((name, args, options), self._dies, self._chance)
        if answer == KILLED:
            self.kills += 1
            self._begin()
        return answer

    def _ask(self, name: str, *args: object) -> Any:
        return self._process.ask((name, args, {}))

    def _begin(self) -> None:
        self._process.begin()
        ready, self.url = self._process.receive()
        if ready != READY:
            raise InvariantError("the node's process is out of step")


READY = "ready"


def _serve_node(
    path: Path, seed: int, settings: NodeSettings, serves: bool, parent: Connection
) -> None:
    """The process of a node: it answers each call with its result."""
    ignore_signals()
    # A parent that ends takes its pipe with it.
    with (
        suppress(EOFError, ConnectionError),
        stored_chain(path, seed, settings) as chain,
        chain.served() if serves else nullcontext("") as url,
    ):
        parent.send((READY, url))
        while True:
            name, args, options = parent.recv()
            parent.send(getattr(chain, name)(*args, **options))


# --- a peer --------------------------------------------------------------------------------------


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
        self._process = ChildProcess("the peer's process", _serve_peer, directory)
        self._events = 0
        self._records: DurablePeer | None = None
        self._unheard: list[Effect] = []
        write_keys(directory, peer.config)

    def start(self, peak: int) -> list[Effect]:
        """Begin in a new process; or go on in one, from the store."""
        if self._records is not None:
            effects, self._records = self._records.start(peak), None
            self._process.begin()
            self._compare(self._process.ask(Start(peak)), effects)
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
        stage = stage_of(before, event, effects, self._peer.state)

        def dies() -> bool:
            return not isinstance(event, Start) and self._dies(stage)

        digest = self._process.ask_or_kill(event, dies, self._chance)
        if digest == KILLED:
            self._restore(number, stage, before, effects)
        self._compare(digest, effects)
        return effects

    def _restore(self, number: int, stage: Stage, before: PeerState, effects: list[Effect]) -> None:
        """Find out from the store whether the event was stored. Raises `PeerStopped`."""
        config = self._peer.config
        after, self._peer.state = self._peer.state, Peer(config).state
        with closing(SealedStore(SqliteStore(self._directory), config.secret)) as store:
            # The copy of the process reads what the process will, and writes for itself.
            self._records = DurablePeer(self._peer, MemoryStore(store.load()))
        state = _lasting(self._peer.state)
        stored = state == _restarted(config, after)
        if not stored and state != _restarted(config, before):
            raise InvariantError(f"the store has neither the state before event {number} nor after")
        self.kills.append(Kill(number, 0 if stored else LOST, stage))
        self._unheard = untold(effects) if stored else []
        raise PeerStopped(effects if stored else None)

    def _compare(self, digest: bytes, effects: Sequence[Effect]) -> None:
        if digest != effects_digest(effects):
            raise InvariantError("the process and its copy react differently to an event")


def effects_digest(effects: Sequence[Effect]) -> bytes:
    """The digest of all that a driver would send, push, erase and watch."""
    lasting = [
        (type(effect).__name__, effect)
        for effect in effects
        if isinstance(effect, Send | Push | Erase | Watch)
    ]
    asked = [
        effect.news.game_id
        for effect in effects
        if isinstance(effect, Tell) and isinstance(effect.news, YourTurn)
    ]
    return sha256(msgspec.msgpack.encode((lasting, asked))).digest()


def _restarted(config: Config, state: PeerState) -> PeerState:
    """A state as it has to be after a restart."""
    peer = Peer(config, without_preparations(state))
    peer.handle(Connected())
    return _lasting(peer.state)


def _lasting(state: PeerState) -> PeerState:
    """A state without what is not stored before something follows from it."""
    play = state.play
    if play is not None:
        # Answers to the steps of finished decks are not stored.
        ready = {number: OpenDeck(deck=deck) for number, deck in play.decks.ready.items()}
        play = msgspec.structs.replace(play, decks=replace(play.decks, decks=ready))
    dispute = state.dispute
    if dispute is not None:
        dispute = msgspec.structs.replace(dispute, block=Block(0))
    return msgspec.structs.replace(
        state, block=Block(0), last_received=b"", play=play, dispute=dispute
    )


def _serve_peer(directory: Path, parent: Connection) -> None:
    """The process of a peer: it answers each event with the digest of its effects."""
    ignore_signals()
    # A parent that ends takes its pipe with it, and perhaps the directory.
    with suppress(EOFError, ConnectionError, StoreError):
        config = read_keys(directory)
        store = SealedStore(SqliteStore(directory), config.secret)
        peer = DurablePeer(Peer(config), store, EVENTS_PER_SNAPSHOT)
        while True:
            event: JournalEvent = parent.recv()
            effects = peer.start(event.peak) if isinstance(event, Start) else peer.handle(event)
            parent.send(effects_digest(effects))
