"""Measure linked peers: one pair against its floor, many at once, and a person who waits for decks.

All peers are in this process, with one node by its RPC, and stores in memory.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep
from typing import TypedDict

from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import Pairing, make_identity, read_identity
from channelsim.channel.peer.chain_news import LeftForChain, UnilateralClose
from channelsim.channel.peer.interface import (
    BrokenOff,
    ChannelOpen,
    GameSettled,
    GameStarted,
    OpeningFailed,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.session.linked_peer import Place, run_linked
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.questions import Deciding
from channelsim.channel.session.session_events import NewsFor, SessionEvent
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games import registry
from channelsim.games.contract import Action, Player
from scripts.tools.bench.measuring import Figures, repeated
from scripts.tools.bench.sessions import is_batch, usual_setup
from scripts.tools.bench.signed_hand import bls_costs

GAME = registry.DEFAULT
LATE = (BrokenOff, LeftForChain, UnilateralClose, OpeningFailed)
"""News that two honest peers only have when one of them was late."""


class _Extent(TypedDict):
    channels: int
    hands: int
    block_seconds: float
    poll_time: float


PAIR = _Extent(channels=1, hands=4, block_seconds=0.05, poll_time=0.02)
"""One channel, whose blocks come fast."""

PATIENCE = (1, 4, 16)
"""Factors of the time between blocks: on a busy machine fast ones end a hand by its deadlines."""


@dataclass(slots=True)
class LinkedRun:
    """A run of many channels: what was sent, when, and what became of the channels.

    The receiver is a person who is `thinking` for so many seconds before each decision. `marks` are
    the seconds at which batches were sent; `late` are news of peers that were late, or thought so
    of the other side; `closed` are the peers that closed cleanly.
    """

    seed: str
    channels: int
    hands: int
    block_seconds: float
    poll_time: float
    listener: Callable[[SessionEvent], None] = lambda event: None
    game: str = GAME
    thinking: float = 0.0
    marks: list[float] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    closed: int = 0
    blocks: int = 0
    node: SimulatedChain = field(init=False)
    chain: RpcChain = field(init=False)
    decks: DeckThreads = field(init=False)
    folder: Path = field(init=False)

    def __call__(self, event: SessionEvent) -> None:
        """Note an event of any of the peers."""
        match event:
            case NewsFor(name, news) if isinstance(news, LATE):
                self.late.append(f"{name}: {news}")
            case _ if is_batch(event):
                self.marks.append(perf_counter())
            case _:
                pass
        self.listener(event)

    def play(self) -> LinkedRun:
        """Play in all channels at once; returns the run itself."""
        self.node = SimulatedChain(node_seed(self.seed.encode()))
        with (
            TemporaryDirectory(prefix="channelsim-") as folder,
            self.node.served() as url,
            RpcChain(url) as self.chain,
            closing(DeckThreads()) as self.decks,
        ):
            self.folder = Path(folder)
            asyncio.run(self._play())
        return self

    async def _play(self) -> None:
        work = [self._channel(f"{self.seed} {number}", number) for number in range(self.channels)]
        done = Event()
        farming = Thread(target=self._make_blocks, args=(done,))
        farming.start()
        try:
            await asyncio.gather(*work)
        finally:
            done.set()
            farming.join()

    def _make_blocks(self, done: Event) -> None:
        """Make blocks on time, however busy the peers are."""
        while not done.wait(self.block_seconds):
            self.node.farm()
            self.blocks += 1

    async def _channel(self, seed: str, number: int) -> None:
        setup = usual_setup(self.game, seed, self.hands)
        runners = [self._runner(setup, side) for side in Side]
        pairings = self._pairings(number)
        bound: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        listening = asyncio.ensure_future(
            run_linked(
                runners[Side.RECEIVER],
                Place(("127.0.0.1", 0), listens=True),
                pairings[Side.RECEIVER],
                on_bound=bound.set_result,
            )
        )
        place = Place(await bound, listens=False)
        connecting = run_linked(runners[Side.INITIATOR], place, pairings[Side.INITIATOR])
        await asyncio.gather(listening, connecting)
        self.closed += sum(runner.peer.state.closed is not None for runner in runners)

    def _runner(self, setup: Setup, side: Side) -> PeerRunner:
        peer = Peer(make_config(setup.seed.encode(), side, self.node, setup.agreement))
        decide = by_policy(setup.policies[side], peer.config.secret)
        # The receiver prepares the decks: it is the person, who is asked for other things.
        thinking = self.thinking if side is Side.RECEIVER else 0.0
        return PeerRunner(
            peer,
            DurablePeer(peer, MemoryStore()),
            self.chain,
            SidePlayer(setup, peer, _after(thinking, decide)),
            self.decks,
            [self],
            waits_for_link=side is Side.INITIATOR,
            poll_time=self.poll_time,
        )

    def _pairings(self, number: int) -> tuple[Pairing, Pairing]:
        folders = [self.folder / f"{number}-{name}" for name in NAMES]
        for folder in folders:
            make_identity(folder)
        first, second = map(read_identity, folders)
        return Pairing(first, second.fingerprint), Pairing(second, first.fingerprint)


def _after(seconds: float, decide: Deciding) -> Deciding:
    """Decide after some thought."""

    def slowly(game: str, game_id: int, player: Player) -> Action:
        """Wait, then decide."""
        sleep(seconds)
        return decide(game, game_id, player)

    return slowly if seconds else decide


def measure_linked(seed: str, seconds: float, least: int) -> Figures:
    """Compare the rate of batches over loopback TLS with that of their BLS operations."""

    def measure(number: int) -> dict[str, float]:
        """Measure one pair of peers, and its operations around it."""
        pair = f"{seed} {number}"
        before = bls_costs()
        signs, verifications = _operations_per_batch(pair)
        run = _pair(pair)
        sign, verify = (sum(costs) / 2 for costs in zip(before, bls_costs(), strict=True))
        rate = (len(run.marks) - 1) / (run.marks[-1] - run.marks[0])
        floor = signs * sign + verifications * verify
        return {"batches_per_second": rate, "ratio": 1 / rate / floor}

    return repeated(seconds, least, measure)


def _operations_per_batch(seed: str) -> tuple[float, float]:
    """Count the signatures and verifications of both sides for a batch, after the first one."""
    total: Counter[str] = Counter()
    counts: list[Counter[str]] = []

    def count(event: SessionEvent) -> None:
        """Note the operations until each batch."""
        if is_batch(event):
            counts.append(total.copy())

    with bls.observed(lambda operation, key, message: total.update((operation,))):
        batches = len(_pair(seed, count).marks)
    spent = counts[-1] - counts[-batches]
    return spent["sign"] / (batches - 1), spent["verify"] / (batches - 1)


def _pair(seed: str, listener: Callable[[SessionEvent], None] = lambda event: None) -> LinkedRun:
    """Play in one channel until it closes cleanly, with slower blocks if it did not.

    Raises `UsageError` if the machine is too busy for any.
    """
    for factor in PATIENCE:
        extent: _Extent = {**PAIR, "block_seconds": factor * PAIR["block_seconds"]}
        run = LinkedRun(seed, **extent, listener=listener).play()
        if run.closed == 2 * run.channels and len(run.marks) > 1 and not run.late:
            return run
    raise UsageError("the machine is too busy to measure linked peers: try again when it is idle")


def measure_channels(seed: str, channels: int, block_seconds: float) -> Figures:
    """Play a hand in each of many channels at once, against one node."""
    begun = perf_counter()
    run = LinkedRun(seed, channels, 1, block_seconds, poll_time=block_seconds / 4).play()
    return {
        "channels": channels,
        "closed": run.closed // 2,
        "late": len(run.late),
        "reasons": run.late[:10],
        "blocks": run.blocks,
        "block_seconds": block_seconds,
        "seconds": round(perf_counter() - begun, 1),
        "batches": len(run.marks),
    }


def measure_waits(seed: str, game: str, hands: int, thinking: float) -> Figures:
    """Measure how long each hand waits to begin, with a person who thinks at every decision.

    The first one waits for its deck, the others should not: `waits` has the seconds since the
    channel opened, or since the hand before was over on both sides.
    """
    waits: list[float] = []
    since = 0.0
    started = -1

    def listen(event: SessionEvent) -> None:
        """Note the beginning and the end of each hand."""
        nonlocal since, started
        match event:
            case NewsFor(_, ChannelOpen() | GameSettled()):
                since = perf_counter()
            case NewsFor(_, GameStarted(live)) if live.id > started:
                started = live.id
                waits.append(round(perf_counter() - since, 3))
            case _:
                pass

    LinkedRun(seed, 1, hands, 0.5, 0.1, listen, game, thinking).play()
    return {"game": game, "thinking_seconds": thinking, "waits": waits}
