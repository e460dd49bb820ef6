"""One attacked session: two processes, one node and one wire, in virtual time, until it is settled.

First comes a phase of faults, and then one of healing, in which nothing fails any more and both
sides have to settle within a bound.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from channelsim.channel.attack.actions import (
    BLOCK,
    BLOCK_TIME,
    CALL,
    KINDS,
    MESSAGE,
    Action,
    Attack,
)
from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.monitors import Monitors, Violation
from channelsim.channel.attack.process import Instant, Process
from channelsim.channel.attack.side_monitors import SideMonitors
from channelsim.channel.attack.virtual_time import (
    Stalled,
    VirtualThreads,
    drawn_delays,
    run_virtually,
)
from channelsim.channel.attack.wire import Wire
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.network.link import Link, reconnecting
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import make_config, node_seed, policy_chance
from channelsim.channel.session.session_events import SessionEvent
from channelsim.channel.simulation.run import Party, Run, RunLog
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.games.chance import Chance

HEALS_AT = 40
"""Blocks after which nothing fails any more."""

MOST_BLOCKS = 400
"""Blocks after the healing in which everything has to be settled, whatever was under way."""


@dataclass(frozen=True, slots=True)
class Session:
    """An attacked session as it went: its log, its end, and what was broken.

    `done` are the actions that took place, in order, and `log` a line for each event.
    """

    attack: Attack
    done: tuple[Action, ...]
    log: tuple[str, ...]
    violations: tuple[Violation, ...]
    blocks: int
    seconds: float
    lives: tuple[int, int]
    funded: bool
    on_chain: bool

    @property
    def died_in_restart(self) -> bool:
        """True if a process started twice without a block in between."""
        starts = Counter[str]()
        for line in self.log:
            event = line.partition(" ")[2]
            if event.startswith("block "):
                starts.clear()
            elif event.endswith("starts again"):
                starts[event] += 1
                if starts[event] > 1:
                    return True
        return False

    @property
    def digest(self) -> str:
        """SHA-256 of the log in hex."""
        return sha256("\n".join(self.log).encode()).hexdigest()


def run(attack: Attack) -> Session:
    """Run a script. The same one gives the same session."""
    with tempfile.TemporaryDirectory(prefix="channelsim-", dir=fast_folder()) as folder:
        return World(attack, Path(folder)).run()


def fast_folder() -> str | None:
    """A folder in memory, if this machine has one: the stores of a session last as long as it."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None


class Script:
    """The actions of an attack that have not taken place yet, and the counters that they wait for.

    Each number of a counter has one action at most; the others move to the next numbers.
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self.done: list[Action] = []
        self.is_healed = False
        self._counts: Counter[tuple[str, int]] = Counter()
        self._waiting: dict[tuple[str, int], list[Action]] = {}
        for action in sorted(actions, key=lambda action: action.at):
            counter = KINDS[action.kind].counter
            place = counter, 0 if counter == BLOCK else action.side
            self._waiting.setdefault(place, []).append(action)

    def next(self, counter: str, side: int = 0) -> Action | None:
        """Count, and take the action that is due."""
        place = counter, side
        count, self._counts[place] = self._counts[place], self._counts[place] + 1
        waiting = self._waiting.get(place)
        if self.is_healed or not waiting or waiting[0].at > count:
            return None
        action = waiting.pop(0)
        self.done.append(action)
        return action


@dataclass
class World:
    """A session under attack. Call `run` once. Stores are in its folder."""

    attack: Attack
    folder: Path
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the chain, both parties, and what is between them."""
        attack = self.attack
        self.scenario = scenario_of(attack)
        seed = attack.seed.encode()
        self.chain = SimulatedChain(node_seed(seed))
        self.script = Script(attack.actions)
        self.wire = Wire(self._delays("wire", 0.01, 0.4), self._on_message)
        self.nodes = [self._node(side) for side in Side]
        setup = setup_of(self.scenario)
        configs = [make_config(seed, side, self.chain, setup.agreement) for side in Side]
        self._start = self.chain.peak()
        first, second = (
            Party(config.name, peer, peer, policy_chance(seed, config.side))
            for config in configs
            for peer in [Peer(config)]
        )
        self.parties = first, second
        self.run_log = RunLog(self.chain, self.parties)
        self.monitors = Monitors(self.parties)
        self._blocks = Chance(derive(seed, "blocks"))
        self._seconds = 0.0
        self._reorgs = 0
        self._finished: list[int | None] = [None, None]
        self._quiet_since, self._followed = self._start, 0
        self.processes = [
            Process(
                config=config,
                setup=setup,
                folder=self.folder / config.name,
                node=self.nodes[config.side],
                threads=VirtualThreads(
                    self._delays(f"threads {config.name}", 0.001, 0.1),
                    partial(self._slowness, config.side),
                ),
                snapshots=attack.snapshots,
                watched=attack.watched,
                next_action_on=self._next_action,
                keep_linked=self._keeping(config.side),
                listen=self._listen,
                compare=self._compare,
                fails=self._fails,
                on_peer=self._new_peer,
                monitors=SideMonitors(config, self.folder / config.name, self._violated),
            )
            for config in configs
        ]

    def run(self) -> Session:
        """Run it to its end, and check it."""
        try:
            run_virtually(self._run)
        except Stalled as error:
            self._violated("ends", str(error))
        party = self.parties[0].peer.state
        funded = party.endpoint is not None and bool(
            self.chain.coin(party.endpoint.channel.coin.id)
        )
        run = Run(
            self.scenario,
            self.chain,
            self.parties,
            tuple(self.run_log.delivered),
            self.chain.peak() - self._start,
            self._reorgs,
            (self._finished[0], self._finished[1]),
        )
        self.monitors.at_the_end(run, self.script.done)
        self.monitors.pace(run, self.script.done, self._quiet_since)
        return Session(
            self.attack,
            tuple(self.script.done),
            tuple(self.log),
            tuple(self.monitors.violations),
            self.chain.peak() - self._start,
            self._seconds,
            (self.processes[0].lives, self.processes[1].lives),
            funded,
            any(one.peer.state.dispute is not None for one in self.parties),
        )

    async def _run(self) -> None:
        lives = [asyncio.ensure_future(process.live()) for process in self.processes]
        chain = asyncio.ensure_future(self._make_blocks())
        try:
            # The blocks end with the session, also if a side never does.
            while not chain.done():
                waiting = [task for task in (chain, *lives) if not task.done()]
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in (chain, *lives):
                    if task.done():
                        task.result()
        finally:
            for task in (chain, *lives):
                task.cancel()
            await asyncio.gather(chain, *lives, return_exceptions=True)

    # --- blocks ---

    async def _make_blocks(self) -> None:
        """Make blocks until both sides are done, or the time for that is over."""
        for number in range(HEALS_AT + MOST_BLOCKS):
            await asyncio.sleep(self._blocks.between(BLOCK_TIME // 2, 3 * BLOCK_TIME // 2))
            if number == HEALS_AT:
                self._heal()
            action = self.script.next(BLOCK)
            self._block()
            match action:
                case Action("rush", amount=more):
                    for _ in range(more):
                        self._block()
                case Action("reorganise", amount=amount):
                    self._reorganise(1 + amount // 2, keep=bool(amount % 2))
                case _:
                    pass
            self._note_faults()
            for process in self.processes:
                if process.is_over and self._finished[process.side] is None:
                    self._finished[process.side] = self.chain.peak()
            if None not in self._finished or any(one.is_given_up for one in self.processes):
                return

    def _note_faults(self) -> None:
        """Note the height until which faults last that have taken place by now."""
        new = self.script.done[self._followed :]
        self._followed += len(new)
        if new:
            pause = sum(action.pause for action in new) // (BLOCK_TIME // 2)
            self._quiet_since = self.chain.peak() + pause

    def _block(self) -> None:
        for node in self.nodes:
            node.take_held()
        self.chain.farm()
        self._note(f"block {self.chain.peak()}")

    def _reorganise(self, back: int, *, keep: bool) -> None:
        back = min(back, self.scenario.confirmations)
        if self.chain.peak() - back >= self._start:
            self._reorgs += 1
            self.chain.reorganise(back, back + 1, keep=keep)
            self._note(f"reorganised {back}, block {self.chain.peak()}")

    def _heal(self) -> None:
        self.script.is_healed = True
        self.wire.heal()
        for node in self.nodes:
            node.heal()
        for process in self.processes:
            process.healed.set()
        self._quiet_since = self.chain.peak()
        self._note("healed")

    # --- the parts of the world ---

    def _next_action(self, counter: str, side: int) -> Action | None:
        action = self.script.next(counter, side)
        if action is not None:
            self._note(f"action {action.text}")
        return action

    def _on_message(self, side: int) -> Action | None:
        return self._next_action(MESSAGE, side)

    def _node(self, side: Side) -> FailingNode:
        return FailingNode(
            self.chain,
            lambda: self._next_action(CALL, side),
            lambda: asyncio.get_running_loop().time(),
            self._block,
        )

    def _slowness(self, side: Side) -> float:
        return self.processes[side].take_slowness()

    def _delays(self, name: str, least: float, most: float) -> Callable[[], float]:
        return drawn_delays(Chance(derive(self.attack.seed.encode(), "delays", name)), least, most)

    def _keeping(self, side: Side) -> Callable[[Link], Coroutine[None, None, None]]:
        if side is Side.RECEIVER:
            return self.wire.listen
        chance = Chance(derive(self.attack.seed.encode(), "connecting"))

        async def connect(link: Link) -> None:
            try:
                await reconnecting(link, self.wire.connect, "the other side", chance)
            finally:
                await link.close()

        return connect

    # --- what happens ---

    def _listen(self, event: SessionEvent) -> None:
        self.run_log(event)
        self._note(_text(event))
        for violation in self.monitors.step(event):
            self._violated(violation.monitor, violation.text)

    def _new_peer(self, peer: Peer) -> None:
        party = self.parties[peer.config.side]
        party.peer = peer
        party.actor = peer

    def _compare(self, process: Process, before: Instant, after: PeerState) -> None:
        if before.unsure is not None and self.monitors.was_stored(before.states, after):
            process.report_stored(*before.unsure)
        for how in self.monitors.restart(before.states, after):
            self._violated("restart", f"the {process.config.name}: {how}")
        self._note(f"{process.config.name} starts again")

    def _fails(self, process: Process, error: BaseException) -> None:
        # The folder has another name in each run.
        reason = f"{error}".replace(str(self.folder), "")
        self._violated(
            "ends", f"the {process.config.name} ended by {type(error).__name__}: {reason}"[:300]
        )

    def _violated(self, monitor: str, text: str) -> None:
        self._note(f"violated {monitor}: {text}")
        self.monitors.add(Violation(monitor, text))

    def _note(self, line: str) -> None:
        with suppress(RuntimeError):  # the loop has ended: the time is its last
            self._seconds = asyncio.get_running_loop().time()
        self.log.append(f"{self._seconds:.6f} {line}")


def scenario_of(attack: Attack) -> Scenario:
    """The session of a script, as promises are checked by: both sides are honest.

    Its weather excuses spends that the node refuses.
    """
    return Scenario(
        games=attack.games,
        seed=attack.seed,
        weather="reorgs",
        hands=attack.hands,
        agreed=True,
        policies=attack.policies,
    )


def _text(event: SessionEvent) -> str:
    """A line that two equal events share, and no others."""
    return f"{type(event).__name__} {sha256(repr(event).encode()).hexdigest()[:16]}"
