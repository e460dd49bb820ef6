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
from channelsim.channel.peer.agreement import Agreement
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
from channelsim.channel.session.dealers import deck_settings
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.session.linked_peer import Place, run_linked
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.session_events import NewsFor, SessionEvent
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.session.side_player import Deciding, SidePlayer, by_policy
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games import registry
from channelsim.games.contract import Action, Player
from tools.bench.measuring import Figures, repeated
from tools.bench.sessions import is_batch, usual_setup
from tools.bench.signed_hand import bls_costs

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

    `marks` are the seconds at which batches were sent; `late` are news of peers that were late, or
    thought so of the other side; `closed` are the peers that closed cleanly.
    """

    channels: int
    marks: list[float] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    closed: int = 0
    blocks: int = 0

    def __call__(self, event: SessionEvent) -> None:
        """Note an event of any of the peers."""
        match event:
            case NewsFor(name, news) if isinstance(news, LATE):
                self.late.append(f"{name}: {news}")
            case _ if is_batch(event):
                self.marks.append(perf_counter())
            case _:
                pass


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
    with bls.observed(lambda operation, key, message: total.update((operation,))):
        batches = len(_pair(seed, lambda: counts.append(total.copy())).marks)
    spent = counts[-1] - counts[-batches]
    return spent["sign"] / (batches - 1), spent["verify"] / (batches - 1)


def _pair(seed: str, on_batch: Callable[[], None] = lambda: None) -> LinkedRun:
    """Play in one channel until it closes cleanly, with slower blocks if it did not.

    Raises `UsageError` if the machine is too busy for any.
    """
    for factor in PATIENCE:
        extent: _Extent = {**PAIR, "block_seconds": factor * PAIR["block_seconds"]}
        run = _run(seed, **extent, on_batch=on_batch)
        if run.closed == 2 * run.channels and len(run.marks) > 1 and not run.late:
            return run
    raise UsageError("the machine is too busy to measure linked peers: try again when it is idle")


def measure_channels(seed: str, channels: int, block_seconds: float) -> Figures:
    """Play a hand in each of many channels at once, against one node."""
    begun = perf_counter()
    run = _run(seed, channels, hands=1, block_seconds=block_seconds, poll_time=block_seconds / 4)
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
        """Note an event."""
        nonlocal since, started
        match event:
            case NewsFor(_, ChannelOpen() | GameSettled()):
                since = perf_counter()
            case NewsFor(_, GameStarted(live)) if live.id > started:
                started = live.id
                waits.append(round(perf_counter() - since, 3))
            case _:
                pass

    _run(seed, 1, hands, 0.5, 0.1, game=game, thinking=thinking, listener=listen)
    return {"game": game, "thinking_seconds": thinking, "waits": waits}


def _run(
    seed: str,
    channels: int,
    hands: int,
    block_seconds: float,
    poll_time: float,
    on_batch: Callable[[], None] = lambda: None,
    *,
    game: str = GAME,
    thinking: float = 0.0,
    listener: Callable[[SessionEvent], None] = lambda event: None,
) -> LinkedRun:
    run = LinkedRun(channels)

    def listen(event: SessionEvent) -> None:
        """Note an event."""
        count = len(run.marks)
        run(event)
        listener(event)
        if len(run.marks) > count:
            on_batch()

    node = SimulatedChain(node_seed(seed.encode()))
    with (
        TemporaryDirectory(prefix="channelsim-") as folder,
        node.served() as url,
        RpcChain(url) as chain,
        closing(DeckThreads()) as decks,
    ):
        table = _Table(
            *(run, node, chain, decks, Path(folder), hands, poll_time, listen, game, thinking)
        )
        asyncio.run(table.play(seed, block_seconds))
    return run


@dataclass(slots=True)
class _Table:
    """Everything that the channels of a run share."""

    run: LinkedRun
    node: SimulatedChain
    chain: RpcChain
    decks: DeckThreads
    folder: Path
    hands: int
    poll_time: float
    listen: Callable[[SessionEvent], None]
    game: str
    thinking: float

    async def play(self, seed: str, block_seconds: float) -> None:
        """Play in all channels at once."""
        work = [self._channel(f"{seed} {number}", number) for number in range(self.run.channels)]
        done = Event()
        farming = Thread(target=self._make_blocks, args=(block_seconds, done))
        farming.start()
        try:
            await asyncio.gather(*work)
        finally:
            done.set()
            farming.join()

    def _make_blocks(self, seconds: float, done: Event) -> None:
        """Make blocks on time, however busy the peers are."""
        while not done.wait(seconds):
            self.node.farm()
            self.run.blocks += 1

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
        self.run.closed += sum(runner.peer.state.closed is not None for runner in runners)

    def _runner(self, setup: Setup, side: Side) -> PeerRunner:
        agreement = Agreement(
            (setup.balance, setup.balance),
            setup.unroll_timeout,
            setup.confirmations,
            decks=deck_settings(setup.games),
        )
        peer = Peer(make_config(setup.seed.encode(), side, self.node, agreement))
        decide = by_policy(setup.policies[side], peer.config.secret)
        # The receiver prepares the decks: it is the person, who is asked for other things.
        thinking = self.thinking if side is Side.RECEIVER else 0.0
        player = SidePlayer(setup, peer, _after(thinking, decide))
        return PeerRunner(
            peer,
            DurablePeer(peer, MemoryStore()),
            self.chain,
            player,
            self.decks,
            [self.listen],
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
