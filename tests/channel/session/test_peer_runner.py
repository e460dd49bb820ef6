"""One peer on its own against a node: two of them play to the end, also when one is restarted."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import FarmableChain, PushResult
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.chain_news import ChannelClosed, ChannelSettled
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import GameStarted, GoOnChain, News, PrepareDeck, Push
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.state import Side
from channelsim.channel.session import peer_runner
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.questions import Deciding
from channelsim.channel.session.session_events import NewsFor, SessionEvent
from channelsim.channel.session.setup import Setup, check
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.contract import Action, Player
from channelsim.games.deck.work import DeckResult, DeckWork, compute
from channelsim.games.rotations import ROTATIONS
from tests.channel.backends import backend
from tests.channel.session.spectator import Spectator
from tests.games.deck.toy_group import ToyGroup

SETUP = Setup(("spacepoker",), "runner", 2, 100, 10, 10_000, ("caller", "caller"))
GUARD = 60.0


@dataclass
class Line:
    """One direction of a connection within this process.

    Messages arrive once both sides know of the connection.
    """

    to: PeerRunner
    held: list[bytes] | None = field(default_factory=list)
    arrived: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    carrying: asyncio.Future[None] | None = None

    def send(self, message: bytes) -> None:
        if self.held is not None:
            self.held.append(message)
        else:
            asyncio.get_running_loop().call_soon(self._arrive, message)

    def open(self) -> None:
        held, self.held = self.held or [], None
        for message in held:
            self.send(message)

    def _arrive(self, message: bytes) -> None:
        self.arrived.put_nowait(message)
        if self.carrying is None:
            self.carrying = asyncio.ensure_future(self._carry())

    async def _carry(self) -> None:
        while True:
            self.to.received(await self.arrived.get())
            await self.to.ready()


@dataclass
class Place:
    """One side: what outlives its process."""

    config: Config
    store: MemoryStore = field(default_factory=MemoryStore)
    news: list[News] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def runner(
        self,
        chain: FarmableChain,
        setup: Setup | None = SETUP,
        decks: DeckThreads | None = None,
        decide: Deciding | None = None,
    ) -> PeerRunner:
        peer = Peer(self.config)
        actor = DurablePeer(peer, self.store)
        decide = decide or by_policy("caller", self.config.secret)
        player = SidePlayer(setup, peer, decide) if setup else None
        return PeerRunner(
            peer,
            actor,
            chain,
            player or Spectator(),
            decks or DeckThreads(),
            [self.listen],
            poll_time=0.01,
            on_trouble=lambda trouble: self.troubles.append(trouble.reason),
        )

    def listen(self, event: SessionEvent) -> None:
        if isinstance(event, NewsFor):
            self.news.append(event.news)


def places(
    chain: FarmableChain, setup: Setup = SETUP, decks: DeckSettings | None = None
) -> tuple[Place, Place]:
    agreement = setup.agreement if decks is None else replace(setup.agreement, decks=decks)
    first, second = (Place(make_config(b"runner", side, chain, agreement)) for side in Side)
    return first, second


async def blocks(chain: FarmableChain, pause: float = 0.03) -> None:
    while True:
        await asyncio.sleep(pause)
        chain.farm()


async def join(*runners: PeerRunner) -> None:
    first, second = runners
    lines = Line(second), Line(first)
    await first.connected(lines[0])
    await second.connected(lines[1])
    for line in lines:
        line.open()


async def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + GUARD
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


def paid(chain: FarmableChain, place: Place) -> int:
    return sum(seen.coin.amount for seen in chain.coins_at(place.config.reward_address))


def test_two_runners_play_all_hands_though_one_is_restarted_in_a_hand() -> None:
    with backend("over RPC", node_seed(b"runner")) as chain:
        here, there = places(chain)

        async def play() -> None:
            farming = asyncio.ensure_future(blocks(chain))
            first, second = here.runner(chain), there.runner(chain)
            whole = asyncio.ensure_future(first.run())
            killed = asyncio.ensure_future(second.run())
            await join(first, second)
            await until(lambda: second.peer.phase is Phase.PLAYING)
            await until(lambda: bool(second.peer.play.state.games))
            killed.cancel()
            with suppress(asyncio.CancelledError):
                await killed
            again = there.runner(chain)
            rest = asyncio.ensure_future(again.run())
            await join(first, again)
            await asyncio.wait_for(asyncio.gather(whole, rest), GUARD)
            farming.cancel()
            assert first.peer.play.state.balances == again.peer.play.state.balances
            assert first.peer.play.state.next_ids == (2, 3), "a hand was played by each"
            assert (paid(chain, here), paid(chain, there)) == first.peer.play.state.balances

        asyncio.run(play())


@pytest.mark.long
@pytest.mark.parametrize(
    ("rotation", "games", "hands"),
    [(None, ("five-draw",), 3), ("horse", ROTATIONS["horse"].games, 3)],
)
def test_two_runners_alternate_games_and_carry_antes(
    rotation: str | None, games: tuple[str, ...], hands: int
) -> None:
    """Callers pass out every hand of draw: antes of 1, 2 and 3 chips."""
    setup = check(
        Setup(games, "runner", hands, 100, 40, 40_000, ("caller", "caller"), rotation=rotation)
    )
    with backend("over RPC", node_seed(b"runner")) as chain:
        here, there = places(chain, setup)

        async def play() -> None:
            # A deck takes seconds, in which many blocks come.
            farming = asyncio.ensure_future(blocks(chain, 0.5))
            first, second = here.runner(chain, setup), there.runner(chain, setup)
            tasks = [asyncio.ensure_future(one.run()) for one in (first, second)]
            await join(first, second)
            await asyncio.wait_for(asyncio.gather(*tasks), 4 * GUARD)
            farming.cancel()

        asyncio.run(play())
    started = [one.game.terms for one in there.news if isinstance(one, GameStarted)]
    assert [one.game for one in started] == [setup.game(number) for number in range(hands)]
    if rotation is None:
        assert [dict(one.parameters)["ante"] for one in started] == [1, 2, 3]
    assert [type(one) for one in there.news[-1:]] == [ChannelClosed]


class HeldBack(DeckThreads):
    """Threads that do no last step of a deck until they are released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = Event()
        self.last = False

    def submit(self, side: int, work: DeckWork) -> Future[DeckResult]:
        if not work.is_last:
            return super().submit(side, work)
        self.last = True

        def released() -> DeckResult:
            self.released.wait(GUARD)
            return compute(work, bytes)

        return ThreadPoolExecutor(1).submit(released)


def test_the_initiator_takes_no_message_before_it_has_finished_a_deck() -> None:
    """However quickly the receiver names the deck, and however quickly blocks come."""
    chain = SimulatedChain(1)
    here, there = places(chain, decks=DeckSettings(4, 8, ToyGroup(), demonstration=True))
    held = HeldBack()

    async def play() -> None:
        farming = asyncio.ensure_future(blocks(chain))
        first, second = here.runner(chain, None, held), there.runner(chain, None)
        tasks = [asyncio.ensure_future(one.run()) for one in (first, second)]
        await join(first, second)
        await until(lambda: second.peer.phase is first.peer.phase is Phase.PLAYING)
        await asyncio.wait_for(first.ready(), 1)
        second.command(PrepareDeck())
        await until(lambda: held.last)
        assert second.peer.play.decks.ready
        ready = asyncio.ensure_future(first.ready())
        await asyncio.sleep(0.05)
        assert not ready.done()
        held.released.set()
        await asyncio.wait_for(ready, GUARD)
        assert first.peer.play.decks.ready
        for task in (farming, *tasks):
            task.cancel()

    asyncio.run(play())


@pytest.mark.long
def test_no_hand_after_the_first_waits_for_its_deck() -> None:
    """The person decides nothing before the next deck is ready: it is prepared while it thinks."""
    setup = Setup(("holdem",), "runner", 3, 100, 10, 10_000, ("caller", "caller"))
    chain = SimulatedChain(1)
    here, there = places(chain, setup)
    waited: list[int] = []

    async def play() -> None:
        farming = asyncio.ensure_future(blocks(chain, 0.5))
        caller = by_policy("caller", bytes(32))

        def think(game: str, game_id: int, player: Player) -> Action:
            if game_id < 2:
                end = time.monotonic() + GUARD
                while not all(one.peer.play.decks.ready for one in (first, second)):
                    assert time.monotonic() < end, "the next deck waits for the person"
                    time.sleep(0.01)
                waited.append(game_id)
            return caller(game, game_id, player)

        first, second = here.runner(chain, setup), there.runner(chain, setup, decide=think)
        tasks = [asyncio.ensure_future(one.run()) for one in (first, second)]
        await join(first, second)
        await asyncio.wait_for(asyncio.gather(*tasks), 4 * GUARD)
        farming.cancel()

    asyncio.run(play())
    assert {*waited} == {0, 1}


def test_one_runner_alone_takes_its_money_from_the_chain() -> None:
    with backend("over RPC", node_seed(b"runner")) as chain:
        here, there = places(chain)

        async def play() -> None:
            farming = asyncio.ensure_future(blocks(chain))
            first, second = here.runner(chain), there.runner(chain)
            tasks = [asyncio.ensure_future(one.run()) for one in (first, second)]
            await join(first, second)
            await until(lambda: second.peer.phase is Phase.PLAYING)
            await until(lambda: bool(second.peer.play.state.games))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            alone = there.runner(chain, None)
            task = asyncio.ensure_future(alone.run())
            assert alone.peer.phase is Phase.PLAYING
            with pytest.raises(UsageError, match="has not looked at the chain yet: not now"):
                alone.command(GoOnChain("recovery"))
            await alone.looked()
            alone.command(GoOnChain("recovery"))
            await asyncio.wait_for(task, GUARD)
            farming.cancel()
            settled = [one for one in there.news if isinstance(one, ChannelSettled)]
            assert paid(chain, there) == settled[-1].ours > 0

        asyncio.run(play())


class Absent(SimulatedChain):
    """A node that cannot be asked at times."""

    away = False

    def peak(self) -> int:
        if self.away:
            raise NodeError("the node is away")
        return super().peak()


class Broken(MemoryStore):
    """A store whose disk is full from some event on."""

    full = False

    def append(self, *given: object) -> None:
        if self.full:
            raise StoreError("the disk is full")
        super().append(*given)  # type: ignore[arg-type]


def test_a_node_that_is_away_for_a_while_is_reported_once_and_asked_again() -> None:
    chain = Absent(1)
    place = places(chain)[0]

    async def play() -> None:
        runner = place.runner(chain, None)
        task = asyncio.ensure_future(runner.run())
        await until(lambda: runner.peer.state.block.peak == chain.peak())
        chain.away = True
        await until(lambda: place.troubles == ["the node is away"])
        chain.away = False
        chain.farm()
        await until(lambda: runner.peer.state.block.peak == chain.peak())
        assert place.troubles == ["the node is away", ""]
        task.cancel()
        place.troubles.clear()
        chain.away = True
        runner = place.runner(chain, None)
        task = asyncio.ensure_future(runner.run())
        await until(lambda: place.troubles == ["the node is away"])
        assert not task.done(), "it is asked again at the start, too"
        chain.away = False
        chain.farm()
        await until(lambda: runner.peer.state.block.peak == chain.peak())
        assert place.troubles == ["the node is away", ""]
        task.cancel()

    asyncio.run(play())


class Mute(SimulatedChain):
    """A node that gives no answer to some pushes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.unanswered: tuple[Bundle, ...] = ()
        self.offered: list[Bundle] = []

    def push(self, bundle: Bundle) -> PushResult:
        self.offered.append(bundle)
        if bundle in self.unanswered:
            raise NodeError("the node does not answer")
        return super().push(bundle)


def test_a_push_without_an_answer_hides_neither_the_chain_nor_other_pushes() -> None:
    chain = Mute(1)
    place = places(chain)[0]
    first, second = (
        Push(name, Bundle((Spend(Coin(bytes(32), bytes(32), amount), b"", b""),), NO_SIGNATURE))
        for amount, name in enumerate(("first", "second"))
    )
    chain.unanswered = (first.bundle,)

    async def play() -> None:
        runner = place.runner(chain, None)
        task = asyncio.ensure_future(runner.run())
        await until(lambda: runner.peer.state.block.peak == chain.peak())
        runner.push(first)
        runner.push(second)
        await until(lambda: second.bundle in chain.offered)
        chain.farm()
        await until(lambda: runner.peer.state.block.peak == chain.peak())
        assert "the node does not answer" in place.troubles
        task.cancel()

    asyncio.run(play())


class Failing(SimulatedChain):
    """A node that gives no answer to any push, for one of two reasons."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.tries: Counter[Bundle] = Counter()

    def push(self, bundle: Bundle) -> PushResult:
        self.tries[bundle] += 1
        raise NodeError(f"the node fails ({self.tries.total() % 2})")


def test_pushes_that_never_get_an_answer_are_tried_so_often_and_reported_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_runner, "MOST_TRIES", 4)
    monkeypatch.setattr(peer_runner, "MOST_WAITING", 3)
    chain = Failing(1)
    place = places(chain)[0]
    pushes = [
        Push(str(amount), Bundle((Spend(Coin(bytes(32), bytes(32), amount), b"", b""),), b""))
        for amount in range(50)
    ]

    async def play() -> None:
        runner = place.runner(chain, None)
        task = asyncio.ensure_future(runner.run())
        await until(lambda: runner.peer.state.block.peak == chain.peak())
        for push in pushes:
            runner.push(push)
        await until(lambda: sorted(chain.tries.values()) == [4, 4, 4])
        await asyncio.sleep(0.1)
        assert chain.tries.total() == 12
        assert len(place.troubles) == 1, place.troubles
        chain.farm()
        await until(lambda: place.troubles[1:] == [""])  # none of them is due any more
        task.cancel()

    asyncio.run(play())


def test_a_full_disk_ends_a_run_before_anything_is_said() -> None:
    chain = SimulatedChain(1)
    store = Broken()
    place = replace(places(chain)[0], store=store)
    said: list[bytes] = []

    @dataclass
    class Ear:
        def send(self, message: bytes) -> None:
            said.append(message)

    async def play() -> None:
        runner = place.runner(chain)
        task = asyncio.ensure_future(runner.run())
        await runner.connected(Ear())
        assert len(said) == 1, "the hello"
        store.full = True
        runner.received(b"a message that breaks the opening off")
        with pytest.raises(StoreError, match="disk is full"):
            await asyncio.wait_for(task, GUARD)
        assert len(said) == 1

    asyncio.run(play())


def test_a_peer_whose_run_has_failed_is_given_nothing() -> None:
    chain = SimulatedChain(1)
    place = places(chain)[0]

    async def play() -> None:
        runner = place.runner(chain, setup=None)
        task = asyncio.ensure_future(runner.run())
        await until(lambda: runner.peer.state.block.peak > 0)
        before = runner.peer.state
        runner.failed(RuntimeError("it fails"))
        runner.received(b"a message that breaks the opening off")
        with pytest.raises(RuntimeError, match="it fails"):
            await asyncio.wait_for(task, GUARD)
        assert runner.peer.state is before

    asyncio.run(play())
