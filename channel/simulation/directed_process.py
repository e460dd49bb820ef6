"""The process of one side of a session or dispute that its parent directs.

It has its own store, sends its messages over TLS to the other side's process, and asks the node by
RPC. The parent says when it takes the next message, looks at the chain, or pushes a bundle, so that
everything happens in the order in which it would in one process.
"""

from __future__ import annotations

import asyncio
import queue
from collections import deque
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from threading import Thread
from typing import TypeAlias

from msgspec.structs import replace as changed

from channelsim.channel.adversaries.base import Adversary, Plan
from channelsim.channel.adversaries.registry import get
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import observe, with_children
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.network.connection import Connection
from channelsim.channel.network.identity import Pairing, read_identity
from channelsim.channel.network.link import Link
from channelsim.channel.peer.interface import Connected, DeckComputed, Effect, Event, Push, Received
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import MAX_MESSAGE
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads, seeded_secrets
from channelsim.channel.session.linked_peer import Place, linked
from channelsim.channel.session.peer_driver import Actor, DrivenPeer, PeerDriver
from channelsim.channel.session.script import Script
from channelsim.channel.session.session import scripted
from channelsim.channel.session.session_events import SessionEvent
from channelsim.channel.simulation.killed_processes import (
    ANSWER_TIME,
    effects_digest,
    ignore_signals,
)
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import Start
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.keys_file import read_keys
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.games.chance import Chance
from channelsim.games.deck.work import DeckResult, DeckWork

# --- what the parent orders ---


class PlainOrder(Enum):
    """An order that says it all by its name."""

    TAKE_MESSAGE = "take the next message of the other side"
    TAKE_DECK_STEP = "take the result of the oldest step of a deck"
    RELINK = "begin anew on the connection to the process that took the other one's place"
    FINISH_BLOCK = "be an adversary's last effects after a block"
    ASK_TO_BREAK = "say whether an adversary breaks the connection"


@dataclass(frozen=True, slots=True)
class LookAtChain:
    """Look at the tip; the node does not give the solutions of these coins yet."""

    hidden: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Reconnect:
    """Begin anew as on a new connection; so many messages on their way are lost."""

    lost: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Push a bundle to the node, and say what it answers."""

    bundle: Bundle


Order: TypeAlias = Start | PlainOrder | LookAtChain | Reconnect | Offer | Event
"""What the parent orders; an event that does not come from outside is one itself."""


@dataclass(frozen=True, slots=True)
class RewindRequest:
    """Asks the parent to replace so many blocks, for an adversary; it answers whether it has."""

    back: int


LINKED, REFUSED = "linked", "refused"
"""The process is connected to the other one; a command cannot be carried out."""


def travels(message: bytes) -> bool:
    """True if a frame can carry this message. The parent passes on what none can."""
    return 0 < len(message) <= MAX_MESSAGE


@dataclass(frozen=True, slots=True)
class Work:
    """All that the process of a side is given.

    `adversary` is its name, its step and the games that it plays, or None.
    """

    directory: Path
    seed: bytes
    node: str
    counterparty: str
    script: Script | None = None
    adversary: tuple[str, int, tuple[str, ...]] | None = None


def serve(work: Work, parent: Pipe) -> None:
    """Obey, and answer each order."""
    ignore_signals()
    # A parent that ends takes its pipe with it.
    with suppress(EOFError, ConnectionError):
        try:
            _obey(work, parent)
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            parent.send(InvariantError(f"the process of a peer fails: {error!r}"))


def _obey(work: Work, parent: Pipe) -> None:
    directory = work.directory
    config = read_keys(directory)
    peer = Peer(replace(config, entropy=scripted(work.script, config.side, config.entropy)))
    loop = asyncio.new_event_loop()
    with (
        closing(SealedStore(SqliteStore(directory), config.secret)) as store,
        RpcChain(work.node) as chain,
        closing(DeckThreads(seeded_secrets(work.seed))) as decks,
    ):
        ports = _Ports(chain, config.side, decks, loop)
        if work.adversary is None:
            actor: Actor = DurablePeer(peer, store)
        else:
            actor = _adversary(peer, work.seed, work.adversary, chain, parent)
        driver = PeerDriver(DrivenPeer(config.name, actor), ports)
        pairing = Pairing(read_identity(directory), work.counterparty)
        place = Place(parent.recv(), config.side is Side.RECEIVER)
        network = linked(Link(ports), place, pairing, parent.send)
        Thread(target=loop.run_until_complete, args=(network,), daemon=True).start()
        ports.linked.get(timeout=ANSWER_TIME)
        parent.send(LINKED)
        while True:
            parent.send(_answer(driver, ports, parent.recv()))


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


def _answer(driver: PeerDriver, ports: _Ports, order: Order) -> object:
    """Carry out an order: the digest of its effects, or the answer to a question."""
    match order:
        case Offer(bundle):
            return ports.chain.push(bundle)
        case PlainOrder.ASK_TO_BREAK:
            return _adversary_of(driver).breaks_connection()
        case _:
            try:
                return effects_digest(_react(driver, ports, order))
            except StoreError:
                raise
            except UsageError:
                return REFUSED


def _react(driver: PeerDriver, ports: _Ports, order: Order) -> list[Effect]:
    match order:
        case Start(peak):
            return driver.start(peak)
        case PlainOrder.TAKE_MESSAGE:
            return driver.handle(Received(ports.next_message()))
        case LookAtChain(hidden):
            block = observe(ports.chain, driver.peer.watched)
            coins = (_seen(coin, hidden) for coin in block.coins)
            return driver.handle(Block(block.peak, with_children(ports.chain, block.peak, coins)))
        case PlainOrder.TAKE_DECK_STEP:
            return driver.handle(DeckComputed(ports.steps.popleft().result()))
        case Reconnect(lost):
            for _ in range(lost):
                ports.next_message()
            return driver.handle(Connected())
        case PlainOrder.RELINK:
            ports.linked.get(timeout=ANSWER_TIME)
            return driver.handle(Connected())
        case PlainOrder.FINISH_BLOCK:
            effects = _adversary_of(driver).finish_block()
            driver.carry_out(effects)
            return effects
        case PlainOrder.ASK_TO_BREAK | Offer():
            raise InvariantError(f"{order} has no effects")
        case _:
            return driver.handle(order)


def _seen(coin: CoinSeen, hidden: frozenset[bytes]) -> CoinSeen:
    return changed(coin, solution=None) if coin.coin.id in hidden else coin


def _adversary_of(driver: PeerDriver) -> Adversary:
    actor = driver.peer.actor
    if not isinstance(actor, Adversary):
        raise InvariantError(f"{driver.peer.name} is not an adversary")
    return actor


@dataclass
class _Ports:
    """The end of the side's link, and where its effects lead."""

    chain: RpcChain
    side: Side
    decks: DeckThreads
    loop: asyncio.AbstractEventLoop
    inbox: queue.Queue[bytes] = field(default_factory=queue.Queue)
    linked: queue.Queue[Connection] = field(default_factory=queue.Queue)
    link: Connection | None = None
    steps: deque[Future[DeckResult]] = field(default_factory=deque)

    def next_message(self) -> bytes:
        """The oldest message that has come, or that comes soon."""
        return self.inbox.get(timeout=ANSWER_TIME)

    # --- the end of a link, in the thread of the network ---

    def longest_message(self) -> int:
        """Any message: it may be lost before the peer has to know that it is too long."""
        return MAX_MESSAGE

    async def connected(self, link: Connection) -> None:
        """Take a new connection in the place of an older one."""
        self.link = link
        self.inbox = queue.Queue()  # what an older connection brought is lost with it
        self.linked.put(link)

    def received(self, message: bytes) -> None:
        """Keep a message until the parent orders to take it."""
        self.inbox.put(message)

    async def ready(self) -> None:
        """Do nothing: the parent says when the link is used."""

    def disconnected(self, link: Connection) -> None:
        """Note that the connection is lost."""
        self.link = None

    def failed(self, error: BaseException) -> None:
        """Let the process end by this error."""
        raise error

    # --- the ports of the peer ---

    def send(self, message: bytes) -> None:
        """Send a message, unless no frame can carry it. Raises `InvariantError` without a link."""
        if self.link is None:
            raise InvariantError("the connection between the peers is lost")
        if travels(message):
            self.loop.call_soon_threadsafe(self.link.send, message)

    def push(self, push: Push) -> None:
        """Wait for the parent's order: the weather may delay it."""

    def compute(self, work: DeckWork) -> None:
        """Begin a step of a deck; the parent orders when its result is taken."""
        self.steps.append(self.decks.submit(self.side, work))

    def notify(self, event: SessionEvent) -> None:
        """Tell nobody: the parent's copy does."""

    def restart(self) -> None:
        """Raise `InvariantError`: no actor stops in this process."""
        raise InvariantError("an actor stopped by itself")
