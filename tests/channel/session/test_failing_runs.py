"""Whatever fails around a peer ends its run: in one error, with the event loop running meanwhile.

In most tests one call fails in each life of a process, a later one each time, until the channel has
ended: so every call of a session fails once, and a restart goes on after each failure.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from threading import Lock, current_thread, main_thread
from typing import Any, cast

import pytest

from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import GoOnChain, OwnFault
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.store import watched_peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.system.durable_files import replace_file
from channelsim.channel.system.line_log import LineLog
from tests.channel.session.beating import GUARD, run
from tests.channel.session.spectator import Spectator
from tests.channel.session.test_peer_runner import SETUP, Line, Place, paid, places, until
from tests.sampling import one_in

HAND = replace(SETUP, hands=1)
LIVES = 400
"""More processes than any session needs."""


@dataclass
class Plan:
    """Lets one call fail in each life: the one after `left` others, before or `after` it is done.

    `failed` are the names of those that failed, and `late` what was done after a failure.
    """

    error: Callable[[], BaseException]
    after: bool = False
    left: int = -1
    stopped: bool = False
    failed: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def begin(self, left: int) -> None:
        """Begin a life."""
        self.left, self.stopped = left, False

    def call(self, name: str, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
        """Make a call, or fail."""
        with self._lock:
            fails, self.left = self.left == 0, self.left - 1
        if fails and not self.after:
            raise self._fail(name)
        answer = function(*given, **more)
        if fails:
            raise self._fail(name)
        return answer

    def note(self, name: str) -> None:
        """Note what must not be done after a failure."""
        if self.stopped:
            self.late.append(name)

    def _fail(self, name: str) -> BaseException:
        # The event loop hears of a failure in a thread a little later.
        self.stopped = current_thread() is main_thread()
        self.failed.append(name)
        return self.error()


class Failing:
    """Stands in for an object whose calls of these names may fail."""

    def __init__(self, target: object, plan: Plan, *names: str) -> None:
        self._target, self._plan, self._names = target, plan, names

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if not callable(value):
            return value
        if name in NOTED:
            self._plan.note(name)
        return partial(self._plan.call, name, value) if name in self._names else value


class Wire(Line):
    """One direction of a connection that can be cut; `plan` notes what a failed side sends."""

    plan: Plan | None = None
    is_cut = False

    def send(self, message: bytes) -> None:
        if self.plan is not None:
            self.plan.note("send")
        super().send(message)

    def _arrive(self, message: bytes) -> None:
        if not self.is_cut:
            super()._arrive(message)

    def cut(self) -> None:
        self.is_cut = True
        if self.carrying is not None:
            self.carrying.cancel()


STORE = ("append", "save_snapshot")
PLAYER = ("follow", "answer", "next_command")
CALLS = {
    "store": STORE,
    "node": ("peak", "coin", "coins_at", "push", "pending", "children"),
    "pushes": ("push",),
    "player": PLAYER,
    "listener": ("listen",),
    "actor": ("handle",),
    "nowhere": (),
}
"""The calls that may fail, by the place."""

NOTED = (*STORE, *PLAYER, "listen", "handle")
"""What must not be done after a failure; a thread may still ask the node."""


@dataclass
class Ends:
    """A side that fails, and one that does not, on one node."""

    chain: SimulatedChain
    weak: Place
    sound: Place
    plan: Plan
    where: str
    leaves: bool = False
    folder: Path | None = None
    log: type[LineLog] = LineLog
    errors: list[BaseException] = field(default_factory=list)

    def failing(self) -> PeerRunner:
        """A new process of the side that fails."""
        peer, names = Peer(self.weak.config), CALLS[self.where]

        def failing(target: object) -> Any:
            return Failing(target, self.plan, *names)

        durable = DurablePeer(peer, failing(self.weak.store), 3)
        actor = durable if self.folder is None else WatchedPeer(durable, self.folder, self.log)
        player = SidePlayer(HAND, peer, by_policy("caller", self.weak.config.secret))
        return PeerRunner(
            peer,
            failing(actor),
            failing(self.chain),
            failing(player),
            DeckThreads(),
            [failing(self.weak).listen],
            poll_time=0.01,
            on_trouble=lambda trouble: self.weak.troubles.append(trouble.reason),
        )

    async def play(self, left: Callable[[int], int]) -> None:
        """Play until both are over; life number n fails at the call after `left(n)` others."""
        sound = self.sound.runner(self.chain, HAND)
        tasks = [
            asyncio.ensure_future(self._blocks(sound)),
            asyncio.ensure_future(sound.run()),
        ]
        tasks += [asyncio.ensure_future(self._leave(sound))] if self.leaves else []
        for life in range(LIVES):
            self.plan.begin(left(life))
            if await self._life(sound):
                break
        else:
            raise AssertionError(f"not over after {LIVES} lives")
        await asyncio.wait_for(tasks[1], GUARD)
        for task in tasks:
            task.cancel()

    async def _blocks(self, sound: PeerRunner) -> None:
        """Make blocks, and more quickly once nobody waits for messages."""
        while True:
            await asyncio.sleep(0.05 if sound.peer.state.dispute is None else 0.015)
            self.chain.farm()

    async def _life(self, sound: PeerRunner) -> bool:
        """One process; True if it saw the channel's end."""
        weak = self.failing()
        there, back = Wire(sound), Wire(weak)
        there.plan = self.plan
        running = asyncio.ensure_future(weak.run())

        async def join() -> None:
            await weak.connected(there)
            await sound.connected(back)
            there.open()
            back.open()

        joining = asyncio.ensure_future(join())
        await asyncio.wait([running], timeout=GUARD)
        assert running.done()
        joining.cancel()
        there.cut()
        back.cut()
        sound.disconnected(back)
        if running.exception() is None:
            return True
        self.errors.append(cast(BaseException, running.exception()))
        # A little later nothing has been done: threads that were under way are done too.
        await asyncio.sleep(0.01)
        return False

    async def _leave(self, sound: PeerRunner) -> None:
        """Go on chain in the first hand."""
        await until(lambda: sound.peer.phase is Phase.PLAYING)
        await until(lambda: bool(sound.peer.play.state.games))
        with suppress(UsageError):
            sound.command(GoOnChain())

    def check(self) -> None:
        """Check that the money is there, and that each life ended with its error, and silently."""
        assert paid(self.chain, self.weak) + paid(self.chain, self.sound) == 2 * HAND.balance
        assert self.plan.late == []
        assert len(self.errors) == len(self.plan.failed) > 0
        wanted = self.plan.error()
        assert {(type(one), str(one)) for one in self.errors} == {(type(wanted), str(wanted))}


def ends(side: Side, plan: Plan, where: str, *, leaves: bool = False) -> Ends:
    chain = SimulatedChain(1)
    both = places(chain, HAND)
    return Ends(chain, both[side], both[side.other], plan, where, leaves)


FULL = partial(StoreError, "the disk is full")


@pytest.mark.parametrize(
    ("side", "error", "after"),
    [
        (Side.INITIATOR, FULL, False),
        (Side.RECEIVER, FULL, True),
        pytest.param(
            *(Side.RECEIVER, partial(TypeError, "no bytes"), False), marks=pytest.mark.long
        ),
    ],
)
@pytest.mark.parametrize("leaves", one_in(2, [False, True]), ids=("closes", "disputes"))
def test_every_write_fails_once(
    side: Side, error: Callable[[], BaseException], after: bool, leaves: bool
) -> None:
    """Every life writes once, so that it gets on, and fails at the next write."""
    found = ends(side, Plan(error, after), "store", leaves=leaves)
    run(lambda: found.play(lambda life: 0 if after or life == 0 else 1))
    found.check()
    assert set(found.plan.failed) == set(STORE)
    assert not any(isinstance(one, OwnFault) for one in (*found.weak.news, *found.sound.news))


@pytest.mark.parametrize("after", [False, True])
def test_every_write_of_the_watchers_data_fails_once(
    after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(partial(OSError, 28, "No space left on device"), after)
    found = ends(Side.RECEIVER, plan, "nowhere")
    found.folder = tmp_path / "watch"
    opened: list[LineLog] = []

    class Log(LineLog):
        def __init__(self, *given: Any) -> None:
            for log in opened:
                with suppress(OSError):
                    log.close()  # its process has ended
            opened.append(self)
            super().__init__(*given)

    def write(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **more: plan.call(name, function, *given, **more)

    found.log = Log
    monkeypatch.setattr(watched_peer, "replace_file", write("replace_file", replace_file))
    monkeypatch.setattr(os, "write", write("write", os.write))  # as the log does
    # A restart writes the newest state again.
    run(lambda: found.play(lambda life: min(life, 1)))
    assert set(found.plan.failed) == {"write", "replace_file"}
    assert len(found.errors) == len(found.plan.failed) > 4
    for error in found.errors:
        assert isinstance(error, StoreError)
        assert str(error).endswith("; the peer has stopped, nothing is lost")
    assert paid(found.chain, found.weak) + paid(found.chain, found.sound) == 2 * HAND.balance
    assert not any(isinstance(one, OwnFault) for one in (*found.weak.news, *found.sound.news))


# The quick tests take one side for each call, and the long tests both.
EVERY_CALL = list(product(Side, ("node", "pushes", "player", "listener", "actor")))


@pytest.mark.parametrize("call", one_in(2, EVERY_CALL), ids=str)
def test_a_later_call_fails_in_every_life(call: tuple[Side, str]) -> None:
    side, where = call
    leaves = side is Side.RECEIVER
    found = ends(side, Plan(partial(RuntimeError, "planted")), where, leaves=leaves)
    run(lambda: found.play(lambda life: life))
    found.check()


@pytest.mark.long
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(
    ("where", "every"), [("node", 4), ("pushes", 1), ("player", 2), ("listener", 2), ("actor", 1)]
)
def test_every_call_of_a_session_fails_once(side: Side, where: str, every: int) -> None:
    """In a session each, which goes on after a restart."""
    failed: set[str] = set()
    for number in range(0, 10_000, every):
        plan = Plan(partial(RuntimeError, "planted"))
        found = ends(side, plan, where, leaves=number % 2 == 1)
        run(lambda: found.play(lambda life: number if life == 0 else -1))  # noqa: B023
        if not found.errors:
            break
        found.check()
        failed |= set(plan.failed)
    assert failed
    expected = {"node": {"peak", "coin"}, "player": set(PLAYER)}
    assert failed >= expected.get(where, failed)


class Unsteady(SimulatedChain):
    """A node that fails at the first call of each kind, and then after ever more answers."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.is_unsteady = False
        self.failed: Counter[str] = Counter()
        self._left: Counter[str] = Counter()

    def __getattribute__(self, name: str) -> Any:
        if name in CALLS["node"] and self.is_unsteady:
            self._left[name] -= 1
            if self._left[name] < 0:
                self._left[name] = self.failed[name]
                self.failed[name] += 1
                raise NodeError("the node does not answer")
        return super().__getattribute__(name)


@pytest.mark.parametrize("leaves", [False, True], ids=("closes", "disputes"))
def test_a_node_that_fails_again_and_again_is_asked_again(leaves: bool) -> None:
    chain = Unsteady(1)
    both = places(chain, HAND)
    found = Ends(chain, *both, Plan(AssertionError), "nowhere", leaves)

    async def play() -> None:
        playing = asyncio.ensure_future(found.play(lambda life: -1))
        await until(lambda: any(len(one.store.load().events) for one in both))
        chain.is_unsteady = True
        await playing
        chain.is_unsteady = False

    run(play)
    assert found.errors == []
    assert set(chain.failed) >= {"peak", "coin", "push"}
    assert {*found.weak.troubles} == {"the node does not answer", ""}
    assert paid(chain, both[0]) + paid(chain, both[1]) == 2 * HAND.balance


def test_a_node_that_is_away_when_the_other_side_comes_is_asked_again() -> None:
    """The initiator starts with the first connection, perhaps hours after its own start."""
    chain = Unsteady(1)
    place = places(chain, HAND)[0]

    async def play() -> None:
        peer = Peer(place.config)
        runner = PeerRunner(
            *(peer, peer, chain, Spectator(), DeckThreads()),
            waits_for_link=True,
            poll_time=0.01,
            on_trouble=lambda trouble: place.troubles.append(trouble.reason),
        )
        running = asyncio.ensure_future(runner.run())
        await asyncio.sleep(0.05)
        chain.is_unsteady = True
        connecting = asyncio.ensure_future(runner.connected(Wire(runner)))
        await until(lambda: bool(place.troubles))
        chain.is_unsteady = False
        await connecting
        assert not running.done()
        assert peer.state.last_sent, "the hello"
        running.cancel()

    run(play)
