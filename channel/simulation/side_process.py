"""The process of a side that its parent directs: what its methods do is called from there.

It has its own store. In a session it sends its messages over TLS to the other side's process, and
asks the node by RPC. The parent says when it takes the next message, looks at the chain, or pushes
a bundle, so that everything happens in the order in which it would in one process.
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
from msgspec.structs import replace as changed

from channelsim.channel.adversaries.base import Adversary, Plan
from channelsim.channel.adversaries.registry import get
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import PushResult, observe, with_children
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.network.connection import Connection
from channelsim.channel.network.identity import Pairing, read_identity
from channelsim.channel.network.link import Link
from channelsim.channel.peer.interface import (
    Connected,
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
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.keys_file import read_keys
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.games.chance import Chance
from channelsim.games.deck.work import DeckResult, DeckWork

EVENTS_PER_SNAPSHOT = 9
"""Often enough for a short session to be restarted from many snapshots."""

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


def travels(message: bytes) -> bool:
    """True if a frame can carry this message. The parent passes on what none can."""
    return 0 < len(message) <= MAX_MESSAGE


@dataclass(frozen=True, slots=True)
class Work:
    """All that the process of a side is given: more than its directory if it is in a session.

    `node` is the URL of the node, and `counterparty` the fingerprint of the other side.
    `adversary` is its name, its step and the games that it plays, or None.
    """

    directory: Path
    seed: bytes = b""
    node: str = ""
    counterparty: str = ""
    script: Script | None = None
    adversary: tuple[str, int, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class RewindRequest:
    """Asks the parent to replace so many blocks, for an adversary; it answers whether it has."""

    back: int


@contextmanager
def open_side(work: Work, parent: Pipe) -> Iterator[Reactions | LinkedSide]:
    """The side whose keys are in the directory, with its store there."""
    config = read_keys(work.directory)
    peer = Peer(replace(config, entropy=scripted(work.script, config.side, config.entropy)))
    with closing(SealedStore(SqliteStore(work.directory), config.secret)) as store:
        if not work.node:
            yield Reactions(DurablePeer(peer, store, EVENTS_PER_SNAPSHOT))
            return
        with (
            RpcChain(work.node) as chain,
            closing(DeckThreads(seeded_secrets(work.seed))) as decks,
        ):
            actor: Actor
            if work.adversary is None:
                actor = DurablePeer(peer, store, EVENTS_PER_SNAPSHOT)
            else:
                actor = _adversary(peer, work.seed, work.adversary, chain, parent)
            pairing = Pairing(read_identity(work.directory), work.counterparty)
            yield LinkedSide(DrivenPeer(config.name, actor), config.side, chain, decks, pairing)


def _adversary(
    peer: Peer,
    seed: bytes,
    deviation: tuple[str, int, tuple[str, ...]],
    chain: RpcChain,
    parent: Pipe,
) -> Adversary:
    name, step, games = deviation

    def rewind(back: int, bundle: Bundle | None = None) -> bool:
        parent.send(RewindRequest(back))
        return bool(parent.recv())

    chance = Chance(derive(seed, "adversary", name, step))
    return get(name)(peer, Plan(step, chance, chain, rewind, games))


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

    def look_at_chain(self, hidden: frozenset[bytes]) -> bytes:
        """Look at the tip; the node does not give the solutions of these coins yet."""
        block = observe(self._chain, self._driver.peer.watched)
        coins = (_seen(coin, hidden) for coin in block.coins)
        return self.handle(Block(block.peak, with_children(self._chain, block.peak, coins)))

    def take_step(self, result: DeckResult) -> bytes:
        """Take the result of a step of a deck: our own, unless a process before us began it."""
        own = next((one for one in self._steps if one[0] == (result.number, result.step)), None)
        if own is not None:
            self._steps.remove(own)
            result = own[1].result()
        return self.handle(DeckComputed(result))

    def reconnect(self, lost: int) -> bytes:
        """Begin anew as on a new connection; so many messages on their way are lost."""
        for _ in range(lost):
            self._inbox.get(timeout=ANSWER_TIME)
        return self.handle(Connected())

    # --- more than a peer does ---

    def offer(self, bundle: Bundle) -> PushResult:
        """Push a bundle to the node."""
        return self._chain.push(bundle)

    def finish_block(self) -> bytes:
        """Let an adversary act last after a block."""
        effects = self._adversary().finish_block()
        self._driver.carry_out(effects)
        return effects_digest(effects)

    def breaks_connection(self) -> bool:
        """True if an adversary breaks the connection now."""
        return self._adversary().breaks_connection()

    def _adversary(self) -> Adversary:
        actor = self._driver.peer.actor
        if not isinstance(actor, Adversary):
            raise InvariantError(f"{self._driver.peer.name} is not an adversary")
        return actor

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
        """Send a message, unless no frame can carry it. Raises `InvariantError` without a link."""
        if self._connection is None:
            raise InvariantError("the connection between the peers is lost")
        if travels(message):
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


def _seen(coin: CoinSeen, hidden: frozenset[bytes]) -> CoinSeen:
    return changed(coin, solution=None) if coin.coin.id in hidden else coin
