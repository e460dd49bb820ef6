"""Whatever the player, the threads, the listeners and the link raise ends the run of a peer."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from channelsim import plugins
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.interface import (
    Command,
    Connected,
    Effect,
    Event,
    GoOnChain,
    PrepareDeck,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.peer_runner import PeerRunner, RunFailed
from channelsim.channel.session.session_events import SessionEvent
from channelsim.channel.store.interface import StoreError
from channelsim.games.deck.work import DeckResult, DeckWork
from tests.channel.session.beating import BEAT, run
from tests.channel.session.spectator import Spectator
from tests.channel.session.test_peer_runner import SETUP, Line, blocks, join, places, until
from tests.games.deck.toy_group import ToyGroup

HAND = replace(SETUP, hands=1)


class Answering(Spectator):
    """A player whose function of one name raises something."""

    def __init__(self, name: str, error: BaseException) -> None:
        self._name, self._error = name, error

    def _may_raise(self, name: str) -> None:
        if name == self._name:
            raise self._error

    def answer(self, question: object) -> Command | None:
        self._may_raise("answer")
        return None

    def next_command(self) -> Command | None:
        self._may_raise("next_command")
        return None


class Asking(Peer):
    """A peer that asks its player something on each connection."""

    def handle(self, event: Event) -> list[Effect]:
        asked: list[Effect] = [Tell(YourTurn(0))] if isinstance(event, Connected) else []
        return [*super().handle(event), *asked]


ERRORS = [
    RuntimeError("planted"),
    UsageError("planted"),
    NodeError("planted"),
    StoreError("planted"),
    StopIteration("planted"),
    asyncio.CancelledError("planted"),
    TimeoutError("planted"),
    BrokenPipeError("planted"),
    plugins.WrongAnswer("planted"),
    SystemExit("planted"),
    GeneratorExit("planted"),
]
each_error = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)


def ends_with(error: BaseException, runner: PeerRunner) -> None:
    """Check that the run ends with this error, soon after it has begun."""

    async def play() -> None:
        connecting = asyncio.ensure_future(runner.connected(Line(runner)))
        try:
            async with asyncio.timeout(BEAT):
                await runner.run()
        finally:
            connecting.cancel()

    with pytest.raises(BaseException) as raised:
        run(play)
    found = raised.value
    # Some errors cannot leave a coroutine as they are.
    names = {type(error).__name__, "RuntimeError", "InvariantError"}
    assert type(found).__name__ in names
    assert not isinstance(found, TimeoutError) or isinstance(error, TimeoutError)


@each_error
@pytest.mark.parametrize("name", ["answer", "next_command"])
def test_whatever_a_player_raises_ends_the_run(name: str, error: BaseException) -> None:
    chain = SimulatedChain(1)
    peer = Asking(places(chain, HAND)[0].config)
    runner = PeerRunner(peer, peer, chain, Answering(name, error), DeckThreads(), poll_time=0.01)

    ends_with(error, runner)


class FailingDecks(DeckThreads):
    """Threads in which every step fails, or that take none."""

    def __init__(self, error: BaseException, at_once: bool) -> None:
        super().__init__()
        self._error, self._at_once = error, at_once

    def submit(self, side: int, work: DeckWork) -> Future[DeckResult]:
        if self._at_once:
            raise self._error
        future: Future[DeckResult] = Future()
        asyncio.get_running_loop().call_later(0.01, future.set_exception, self._error)
        return future


@each_error
@pytest.mark.parametrize("at_once", [False, True])
def test_whatever_a_step_of_a_deck_raises_ends_the_run(error: BaseException, at_once: bool) -> None:
    chain = SimulatedChain(1)
    decks = DeckSettings(4, 8, ToyGroup(), demonstration=True)
    here, there = places(chain, HAND, decks)

    async def play() -> None:
        farming = asyncio.ensure_future(blocks(chain))
        first = here.runner(chain, None)
        second = there.runner(chain, None, FailingDecks(error, at_once))
        tasks = [asyncio.ensure_future(one.run()) for one in (first, second)]
        try:
            await join(first, second)
            await until(lambda: second.peer.phase is Phase.PLAYING)
            with suppress(RunFailed):
                second.command(PrepareDeck())
            await asyncio.wait_for(tasks[1], BEAT)
        finally:
            for task in (farming, *tasks):
                task.cancel()

    with pytest.raises(BaseException) as raised:
        run(play)
    assert type(raised.value).__name__ in {type(error).__name__, "InvariantError", "RuntimeError"}


class Insistent(Spectator):
    """A player that wants the same again and again."""

    def __init__(self) -> None:
        self.asked = 0

    def next_command(self) -> Command | None:
        self.asked += 1
        return GoOnChain()


class Obedient(Peer):
    """A peer that carries out any command, without effects."""

    def handle(self, event: Any) -> Any:
        return [] if isinstance(event, GoOnChain) else super().handle(event)


def test_a_player_that_always_wants_something_does_not_hide_the_chain() -> None:
    chain = SimulatedChain(1)
    peer = Obedient(places(chain, HAND)[0].config)
    player = Insistent()

    async def play() -> None:
        runner = PeerRunner(peer, peer, chain, player, DeckThreads(), poll_time=0.01)
        running = asyncio.ensure_future(runner.run())
        for _ in range(3):
            chain.farm()
            await until(lambda: peer.state.block.peak == chain.peak())
        running.cancel()

    run(play)
    assert player.asked > 3


def test_a_listener_that_refuses_is_not_taken_for_a_refused_command() -> None:
    """The command was carried out: its other effects must not be lost in silence."""
    chain = SimulatedChain(1)
    here = places(chain, HAND)[0]
    peer = Obedient(here.config)

    def listen(event: SessionEvent) -> None:
        if "GoOnChain" in repr(event):
            raise UsageError("no room")

    async def play() -> None:
        runner = PeerRunner(peer, peer, chain, Insistent(), DeckThreads(), [listen], poll_time=0.01)
        await runner.run()

    with pytest.raises(UsageError, match="no room"):
        run(play)


def test_an_error_of_the_link_before_the_start_ends_the_run() -> None:
    chain = SimulatedChain(1)
    peer = Peer(places(chain, HAND)[0].config)

    async def play() -> None:
        runner = PeerRunner(peer, peer, chain, Spectator(), DeckThreads(), waits_for_link=True)
        asyncio.get_running_loop().call_later(0.05, runner.failed, InvariantError("planted"))
        await runner.run()

    with pytest.raises(InvariantError, match="planted"):
        run(play)
