"""The process of a side that its parent directs: what its methods do is called from there.

It has its own store and watch data. In a session it sends its messages over TLS to the other side's
process, and asks the node by RPC. The parent says when it takes the next message, looks at the
chain, or pushes a bundle, so that everything happens in the order in which it would in one process.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from threading import Thread

import msgspec

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import PushResult, observe
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.network.connection import Connection
from channelsim.channel.network.identity import Pairing, read_identity
from channelsim.channel.network.link import Link
from channelsim.channel.peer.interface import (
    DeckComputed,
    Effect,
    Erase,
    Event,
    Push,
    Received,
    Send,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import MAX_MESSAGE
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads, seeded_secrets
from channelsim.channel.session.linked_peer import Place, linked
from channelsim.channel.session.peer_driver import Actor, DrivenPeer, PeerDriver
from channelsim.channel.session.script import Script
from channelsim.channel.session.session import scripted
from channelsim.channel.session.session_events import SessionEvent
from channelsim.channel.simulation.child_process import ANSWER_TIME
from channelsim.channel.store.durable_peer import EVENTS_PER_SNAPSHOT, DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.keys_file import read_keys
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.watch_data import FOLDER
from channelsim.games.deck.work import DeckResult, DeckWork

REFUSED = b"refused"
"""In the place of a digest: the command cannot be carried out."""


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


@dataclass(frozen=True, slots=True)
class Work:
    """All that the process of a side is given: more than its directory if it is in a session.

    It takes a snapshot after so many events. `node` is the URL of the node, and `counterparty` the
    fingerprint of the other side.
    """

    directory: Path
    snapshots: int = EVENTS_PER_SNAPSHOT
    seed: bytes = b""
    node: str = ""
    counterparty: str = ""
    script: Script | None = None


@contextmanager
def open_side(work: Work, parent: Pipe) -> Iterator[Reactions | LinkedSide]:
    """The side whose keys are in the directory, with its store and watch data there."""
    config = read_keys(work.directory)
    peer = Peer(replace(config, entropy=scripted(work.script, config.side, config.entropy)))
    with closing(SealedStore(SqliteStore(work.directory), config.secret)) as store:
        durable = DurablePeer(peer, store, work.snapshots)
        with closing(WatchedPeer(durable, work.directory / FOLDER)) as actor:
            if not work.node:
                yield Reactions(actor)
                return
            with (
                RpcChain(work.node) as chain,
                closing(DeckThreads(seeded_secrets(work.seed))) as decks,
            ):
                pairing = Pairing(read_identity(work.directory), work.counterparty)
                yield LinkedSide(DrivenPeer(config.name, actor), config.side, chain, decks, pairing)


class Reactions:
    """Reactions of an actor, each as the digest of its effects."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def start(self, peak: int) -> bytes:
        """Begin at this height, or come back from the store."""
        return effects_digest(self._actor.start(peak))

    def handle(self, event: Event) -> bytes:
        """React to an event; `REFUSED` for a command that is not possible now."""
        try:
            return effects_digest(self._actor.handle(event))
        except StoreError:
            raise
        except UsageError:
            return REFUSED


class LinkedSide:
    """A side that is linked to the other one, and sees the chain for itself.

    It is the end of the link and the ports of its peer; the parent calls the methods before these.
    """

    def __init__(
        self, driven: DrivenPeer, side: Side, chain: RpcChain, decks: DeckThreads, pairing: Pairing
    ) -> None:
        self._side = side
        self._chain = chain
        self._decks = decks
        self._pairing = pairing
        self._loop = asyncio.new_event_loop()
        self._inbox: queue.Queue[bytes] = queue.Queue()
        self._links: queue.Queue[Connection] = queue.Queue()
        self._connection: Connection | None = None
        self._steps: list[tuple[tuple[int, int], Future[DeckResult]]] = []
        self._driver = PeerDriver(driven, self)
        reactions = Reactions(self._driver)
        self.start, self.handle = reactions.start, reactions.handle

    def link(self, address: tuple[str, int]) -> tuple[str, int]:
        """Listen at this address, as the receiver, or connect to it; returns it as it is bound."""
        place = Place(address, self._side is Side.RECEIVER)
        bound: queue.Queue[tuple[str, int]] = queue.Queue()
        network = linked(Link(self), place, self._pairing, bound.put)
        Thread(target=self._loop.run_until_complete, args=(network,), daemon=True).start()
        return bound.get(timeout=ANSWER_TIME) if place.listens else address

    def wait_for_link(self) -> None:
        """Wait for a new connection to the other side."""
        self._links.get(timeout=ANSWER_TIME)

    # --- what comes from outside ---

    def take_message(self) -> bytes:
        """Take the oldest message that has come, or that comes soon."""
        return self.handle(Received(self._inbox.get(timeout=ANSWER_TIME)))

    def look_at_chain(self) -> bytes:
        """Look at the tip."""
        return self.handle(observe(self._chain, self._driver.peer.watched))

    def take_step(self, result: DeckResult) -> bytes:
        """Take the result of a step of a deck: our own, unless a process before us began it."""
        own = next((one for one in self._steps if one[0] == (result.number, result.step)), None)
        if own is not None:
            self._steps.remove(own)
            result = own[1].result()
        return self.handle(DeckComputed(result))

    def offer(self, bundle: Bundle) -> PushResult:
        """Push a bundle to the node."""
        return self._chain.push(bundle)

    # --- the end of a link, in the thread of the network ---

    def longest_message(self) -> int:
        """Any message: it may be lost before the peer has to know that it is too long."""
        return MAX_MESSAGE

    async def connected(self, connection: Connection) -> None:
        """Take a new connection in the place of an older one."""
        self._connection = connection
        self._inbox = queue.Queue()  # what an older connection brought is lost with it
        self._links.put(connection)

    def received(self, message: bytes) -> None:
        """Keep a message until the parent has it taken."""
        self._inbox.put(message)

    async def ready(self) -> None:
        """Do nothing: the parent says when the link is used."""

    def disconnected(self, connection: Connection) -> None:
        """Note that the connection is lost, unless a newer one has taken its place."""
        if self._connection is connection:
            self._connection = None

    def failed(self, error: BaseException) -> None:
        """Let the process end by this error."""
        raise error

    # --- the ports of the peer ---

    def send(self, message: bytes) -> None:
        """Send a message. Raises `InvariantError` without a link."""
        if self._connection is None:
            raise InvariantError("the connection between the peers is lost")
        self._loop.call_soon_threadsafe(self._connection.send, message)

    def push(self, push: Push) -> None:
        """Wait for the parent's call: the weather may delay it."""

    def compute(self, work: DeckWork) -> None:
        """Begin a step of a deck; the parent says when its result is taken."""
        key = work.terms.number, work.step
        self._steps.append((key, self._decks.submit(self._side, work)))

    def notify(self, event: SessionEvent) -> None:
        """Tell nobody: the parent's copy does."""

    def restart(self) -> None:
        """Raise `InvariantError`: no actor stops in this process."""
        raise InvariantError("an actor stopped by itself")
