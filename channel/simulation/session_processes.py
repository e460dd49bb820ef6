"""A session in three processes: a node, and two peers that talk over the network.

Each peer has its store on disk, sends its messages over TLS, and asks the node by RPC. The parent
has a copy of each peer, decides in which order things happen, and compares what each process does
with its copy: so the session is the same, to the byte, as in one process.
"""

from __future__ import annotations

import asyncio
import queue
import signal
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import PushResult, observe
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError
from channelsim.channel.network.connection import Connection
from channelsim.channel.network.identity import Pairing, make_identity, read_identity
from channelsim.channel.network.link import Link
from channelsim.channel.peer.interface import DeckComputed, Effect, Event, Push, Received
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads, seeded_secrets
from channelsim.channel.session.driver import DirectDelivery
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.linked_peer import Place, linked
from channelsim.channel.session.peer_driver import DrivenPeer, PeerDriver
from channelsim.channel.session.session_events import SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.process_peer import ANSWER_TIME, CONTEXT, effects_digest
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.keys_file import read_keys, write_keys
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.system.interrupt import SIGNALS, held
from channelsim.games.chance import Chance
from channelsim.games.deck.work import DeckResult, DeckWork

LOCAL = ("127.0.0.1", 0)

MESSAGE, BLOCK, DECK = "the next message", "a look at the chain", "the oldest step of a deck"
"""What a process gets by itself when it is told to."""


class SessionProcesses:
    """The node's process, and those of the peers for which `wrap` is called."""

    def __init__(self, folder: Path, seed: str, stack: ExitStack) -> None:
        self._folder, self._seed, self._stack = folder, seed.encode(), stack
        self._answers: defaultdict[Bundle, deque[PushResult]] = defaultdict(deque)
        self._pipes: list[Pipe] = []
        for name in NAMES:
            make_identity(folder / name)
        self.chain = stack.enter_context(
            closing(
                ProcessNode(
                    folder / "node",
                    node_seed(self._seed),
                    lambda: False,
                    Chance(self._seed),
                    serves=True,
                )
            )
        )
        self.delivery = DirectDelivery(self.chain)
        self.delivery.offer = self._take_answer

    def wrap(self, peer: Peer) -> DirectedPeer:
        """Begin the process of a peer: the initiator's first. The second one is linked to it."""
        side = peer.config.side
        directory = self._folder / peer.config.name
        write_keys(directory, peer.config)
        counterparty = read_identity(self._folder / NAMES[side.other]).fingerprint
        work = _Work(str(directory), self._seed, self.chain.url, counterparty)
        pipe = self._begin(work)
        self._pipes.append(pipe)
        if side is Side.RECEIVER:
            initiator, receiver = self._pipes
            receiver.send(LOCAL)
            address = received(receiver)
            initiator.send(address)
            for one in self._pipes:
                if received(one) != LINKED:
                    raise InvariantError("the processes of the peers are out of step")
        return DirectedPeer(peer, pipe, lambda push, result: self._answers[push].append(result))

    def _begin(self, work: _Work) -> Pipe:
        with held():
            ours, theirs = CONTEXT.Pipe()
            process = CONTEXT.Process(target=_serve, args=(work, theirs))
            process.start()
            theirs.close()

        def end() -> None:
            process.kill()
            process.join()
            process.close()
            ours.close()

        self._stack.callback(end)
        return ours

    def _take_answer(self, bundle: Bundle) -> PushResult:
        """What the node has answered to the peer that pushed this bundle."""
        return self._answers[bundle].popleft()


@contextmanager
def session_processes(seed: str) -> Iterator[SessionProcesses]:
    """Begin a node's process for a session of this seed; all processes end with the block."""
    with ExitStack() as stack:
        folder = stack.enter_context(
            TemporaryDirectory(prefix="channelsim-", ignore_cleanup_errors=True)
        )
        yield SessionProcesses(Path(folder), seed, stack)


class DirectedPeer:
    """The actor of a peer in a process, which does what its copy here does."""

    def __init__(
        self, peer: Peer, pipe: Pipe, answered: Callable[[Bundle, PushResult], None]
    ) -> None:
        self._peer = peer
        self._pipe = pipe
        self._answered = answered

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self._compared(peak, self._peer.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Let the process handle an event: one that it gets by itself, or this command."""
        effects = self._peer.handle(event)
        match event:
            case Received():
                return self._compared(MESSAGE, effects)
            case Block():
                return self._compared(BLOCK, effects)
            case DeckComputed():
                return self._compared(DECK, effects)
            case _:
                return self._compared(event, effects)

    def _compared(self, order: object, effects: list[Effect]) -> list[Effect]:
        self._pipe.send(order)
        digest, answers = received(self._pipe)
        if digest != effects_digest(effects):
            raise InvariantError(
                f"{self._peer.config.name}: its process and its copy react differently to {order}"
            )
        pushes = [one.bundle for one in effects if isinstance(one, Push)]
        for bundle, answer in zip(pushes, answers, strict=True):
            self._answered(bundle, answer)
        return effects


def received(pipe: Pipe) -> Any:
    """The next object from a process. Raises `InvariantError` if it has ended or hangs."""
    if not pipe.poll(ANSWER_TIME):
        raise InvariantError(f"a peer's process does not answer within {ANSWER_TIME:g} s")
    try:
        found = pipe.recv()
    except (EOFError, ConnectionError):
        raise InvariantError("a peer's process ended by itself") from None
    if isinstance(found, Exception):
        raise found
    return found


# --- in the process of a peer -------------------------------------------------------------------

LINKED = "linked"


@dataclass(frozen=True, slots=True)
class _Work:
    """All that the process of a peer is given."""

    directory: str
    seed: bytes
    node: str
    counterparty: str


@dataclass
class _Ports:
    """The end of the peer's link, and where its effects lead."""

    chain: RpcChain
    side: Side
    decks: DeckThreads
    loop: asyncio.AbstractEventLoop
    longest: Callable[[], int]
    inbox: queue.Queue[bytes] = field(default_factory=queue.Queue)
    linked: queue.Queue[Connection] = field(default_factory=queue.Queue)
    link: Connection | None = None
    answers: list[PushResult] = field(default_factory=list)
    steps: deque[Future[DeckResult]] = field(default_factory=deque)

    # --- the end of a link, in the thread of the network ---

    def longest_message(self) -> int:
        return self.longest()

    async def connected(self, link: Connection) -> None:
        self.link = link
        self.linked.put(link)

    def received(self, message: bytes) -> None:
        self.inbox.put(message)

    def disconnected(self, link: Connection) -> None:
        self.link = None

    def failed(self, error: Exception) -> None:
        raise error

    # --- the ports of the peer ---

    def send(self, message: bytes) -> None:
        if self.link is None:
            raise InvariantError("the connection between the peers is lost")
        self.loop.call_soon_threadsafe(self.link.send, message)

    def push(self, push: Push) -> None:
        self.answers.append(self.chain.push(push.bundle))

    def compute(self, work: DeckWork) -> None:
        self.steps.append(self.decks.submit(self.side, work))

    def notify(self, event: SessionEvent) -> None:
        pass

    def restart(self) -> None:
        raise InvariantError("an actor stopped by itself")


def _serve(work: _Work, parent: Pipe) -> None:
    """The process of a peer: it obeys, and answers each order with the digest of its effects."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)  # the parent handles them, and kills us
    # A parent that ends takes its pipe with it.
    with suppress(EOFError, ConnectionError):
        try:
            _obey(work, parent)
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            parent.send(InvariantError(f"the process of a peer fails: {error!r}"))


def _obey(work: _Work, parent: Pipe) -> None:
    directory = Path(work.directory)
    config = read_keys(directory)
    peer = Peer(config)
    loop = asyncio.new_event_loop()
    with (
        closing(SqliteStore(directory)) as store,
        RpcChain(work.node) as chain,
        closing(DeckThreads(seeded_secrets(work.seed))) as decks,
    ):
        ports = _Ports(chain, config.side, decks, loop, lambda: peer.longest_message)
        driven = DrivenPeer(config.name, DurablePeer(peer, store))
        driver = PeerDriver(driven, ports)
        pairing = Pairing(read_identity(directory), work.counterparty)
        place = Place(parent.recv(), config.side is Side.RECEIVER)
        network = linked(Link(ports), place, pairing, parent.send)
        Thread(target=loop.run_until_complete, args=(network,), daemon=True).start()
        ports.linked.get(timeout=ANSWER_TIME)
        parent.send(LINKED)
        while True:
            effects = _react(driver, ports, parent.recv())
            parent.send((effects_digest(effects), ports.answers[:]))
            ports.answers.clear()


def _react(driver: PeerDriver, ports: _Ports, order: Any) -> list[Effect]:
    if isinstance(order, int):
        return driver.start(order)
    if order == MESSAGE:
        return driver.handle(Received(ports.inbox.get(timeout=ANSWER_TIME)))
    if order == BLOCK:
        return driver.handle(observe(ports.chain, driver.peer.watched))
    if order == DECK:
        return driver.handle(DeckComputed(ports.steps.popleft().result()))
    return driver.handle(order)
