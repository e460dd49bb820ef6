"""One attacked session: two processes, one node and one wire, in virtual time, until it is settled.

First comes a phase of faults, and then one of healing, in which nothing fails any more and both
sides have to settle within a bound.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec

from channelsim.channel.attack.actions import Action, Attack, hostile_side, possible
from channelsim.channel.attack.agreed_games import Declining
from channelsim.channel.attack.blocks import Blocks
from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.filled_blocks import filled_chain
from channelsim.channel.attack.hostile_side import HostileSide, Surroundings
from channelsim.channel.attack.kinds import (
    CALL,
    MESSAGE,
    OF_BOTH,
    OLD_COPY,
    STEP,
)
from channelsim.channel.attack.monitors import Monitors, Violation, as_restarted
from channelsim.channel.attack.mortal_peer import FAILS_AT, Instant
from channelsim.channel.attack.old_copies import OldCopies
from channelsim.channel.attack.other_nodes import OtherNodes, other_nodes
from channelsim.channel.attack.process import Process
from channelsim.channel.attack.rpc_node import RpcNode
from channelsim.channel.attack.script import Script
from channelsim.channel.attack.session import NOBODY, Observer, Session
from channelsim.channel.attack.session_limits import (
    MOST_SECONDS,
    MOST_STEPS,
    MOST_VIOLATIONS,
    Endless,
)
from channelsim.channel.attack.side_monitors import SideMonitors
from channelsim.channel.attack.side_processes import SideProcess, SideProcesses
from channelsim.channel.attack.sides import configs_of, player_of, scenario_of, watch_wallet_of
from channelsim.channel.attack.situations import Killed, Noted, Restarted, Situations, side_of
from channelsim.channel.attack.virtual_time import (
    Stalled,
    VirtualThreads,
    drawn_delays,
    run_virtually,
)
from channelsim.channel.attack.wire import Wire
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.network.link import Link, reconnecting
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    BrokenOff,
    Connected,
    Effect,
    Fault,
    OwnFault,
    Tell,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.dealers import dealt
from channelsim.channel.session.identity import node_seed, secret_of
from channelsim.channel.session.session_events import BlockMade, Handled, Pushed, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.kills import Kill
from channelsim.channel.simulation.run import Party, Run, RunLog
from channelsim.channel.simulation.scenario import setup_of
from channelsim.channel.system.time_limit import time_limit
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance

FUNDING = "funding"
"""The spends after which a crowd does not come yet."""


def run(attack: Attack) -> Session:
    """Run a script. The same one gives the same session."""
    session, _ = run_observed(attack)
    return session


def run_observed(
    attack: Attack,
    observer: Observer = NOBODY,
    real: SideProcesses | None = None,
    on: FarmableChain | None = None,
) -> tuple[Session, Run]:
    """Run a script with an observer; also returns the run as promises are checked by.

    The node and the sides may have `real` processes, or the session is `on` another chain.
    """
    with tempfile.TemporaryDirectory(prefix="channelsim-", dir=fast_folder()) as folder:
        return World(attack, Path(folder), observer, real=real, on=on).run()


def fast_folder() -> str | None:
    """A folder in memory, if this machine has one: the stores of a session last as long as it."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None


@dataclass
class World:
    """A session under attack. Call `run` once. Stores are in its folder."""

    attack: Attack
    folder: Path
    observer: Observer = NOBODY
    log: list[str] = field(default_factory=list)
    real: SideProcesses | None = None
    on: FarmableChain | None = None

    def __post_init__(self) -> None:
        """Make the chain, both parties, and what is between them."""
        attack = self.attack
        self.hostile = hostile_side(attack.actions)
        self.scenario = scenario_of(attack)
        seed = attack.seed.encode()
        self.node: FarmableChain = self.on or (
            self.real.node
            if self.real is not None
            else SimulatedChain(node_seed(seed), NodeSettings(mixed=attack.mixed))
        )
        self._filled = filled_chain(self.node, attack)
        self.chain: FarmableChain = self._filled or self.node
        self.script = Script(possible(attack.actions))
        self.wire = Wire(
            self._delays("wire", 0.01, 0.4),
            self._on_message,
            self.chain.peak,
            lambda side, how: self._violated("link", f"the {NAMES[side]} {how}"),
        )
        others = other_nodes(attack, tuple(Side), self.chain, partial(secret_of, seed))
        self.nodes = [self._node(side, others[side]) for side in Side]
        setup = setup_of(self.scenario)
        market = self._filled.market if self._filled is not None else None
        configs = configs_of(attack, self.chain, market)
        wallets = [watch_wallet_of(attack, config, self.chain) for config in configs]
        self._start = self.chain.peak()
        first, second = (
            Party(config.name, peer, peer) for config in configs for peer in [Peer(config)]
        )
        self.parties = first, second
        self.run_log = RunLog(self.chain, self.parties)
        self.monitors = Monitors(self.parties, self.hostile, self.script.done)
        self.situations = Situations()
        self.events: list[Noted] = []
        self._seconds = 0.0
        self._hostile: HostileSide | None = None
        self._steps, self._too_long = 0, asyncio.Event()
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
                starts_again=lambda side: self.script.mark("restart", side),
                fails=self._fails,
                on_peer=self._new_peer,
                monitors=SideMonitors(
                    config,
                    self.folder / config.name,
                    self._violated,
                    wallets[config.side],
                    self.wire,
                    declining=Declining(attack.terms.proposals.is_agreed),
                ),
                note_killed=self._note_killed,
                copies=self._copies(config),
                undone=self.script.done.remove,
                hostile=self._make_hostile if config.side == self.hostile else None,
                beside=(lambda side: side) if self.real is None else self.real.beside,
                real=self._real_process(config),
                player=partial(player_of, attack, self._deal),
            )
            for config in configs
        ]
        self.blocks = Blocks(
            chain=self.chain,
            filled=self._filled,
            scenario=self.scenario,
            hostile=self.hostile,
            times=Chance(derive(seed, "blocks")),
            script=self.script,
            wire=self.wire,
            nodes=self.nodes,
            parties=self.parties,
            processes=self.processes,
            spends=lambda action: self._hostile.spends(action) if self._hostile else (),
            next_action=self._next_action,
            note=self._note,
            observer=self.observer,
        )

    def run(self) -> tuple[Session, Run]:
        """Run it to its end, and check it."""
        try:
            with time_limit(MOST_SECONDS, Endless, of_processor=True):
                run_virtually(self._run)
        except Stalled as error:
            self._violated("ends", str(error))
        except Endless:
            self._violated("ends", f"it goes on after {MOST_SECONDS:.0f} s of the processor")
        party = self.parties[0].peer.state
        funded = party.endpoint is not None and bool(
            self.chain.coin(party.endpoint.channel.coin.id)
        )
        if self._hostile is not None:
            self.parties[self._hostile.peer.config.side].actor = self._hostile.adversary
        run = Run(
            self.scenario,
            self.chain,
            self.parties,
            tuple(self.run_log.delivered),
            self.chain.peak() - self._start,
            self.blocks.reorganisations.count,
            (self.blocks.finished[0], self.blocks.finished[1]),
            self.blocks.reorganisations.deepest,
        )
        copies = [process.copies.times for process in self.processes]
        self.monitors.at_the_end(run, self.script.done, copies)
        if self.hostile is None and not any(copies):
            self.monitors.pace(run, self.script.done, self.blocks.quiet_since)
        session = Session(
            self.attack,
            tuple(self.script.done),
            tuple(self.log),
            tuple(self.monitors.violations),
            self.chain.peak() - self._start,
            self._seconds,
            (self.processes[0].lives, self.processes[1].lives),
            funded,
            any(one.peer.state.dispute is not None for one in self.parties),
            tuple(self.events),
            dict(self.situations.reached),
            self._accused(),
        )
        return session, run

    def _accused(self) -> str:
        """The rule that the honest side says its hostile counterparty broke; empty for none."""
        if self.hostile is None:
            return ""
        news = self.parties[1 - self.hostile].news
        return next((one.blame.rule for one in news if isinstance(one, BrokenOff)), "")

    async def _run(self) -> None:
        lives = [asyncio.ensure_future(process.live()) for process in self.processes]
        chain = asyncio.ensure_future(self.blocks.run())
        ending = asyncio.ensure_future(self._ended_early())
        try:
            # The blocks end with the session, also if a side never does.
            while not chain.done() and not ending.done():
                waiting = [task for task in (chain, ending, *lives) if not task.done()]
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in (chain, *lives):
                    if task.done():
                        task.result()
        finally:
            for task in (chain, ending, *lives):
                task.cancel()
            await asyncio.gather(chain, ending, *lives, return_exceptions=True)

    async def _ended_early(self) -> None:
        await self._too_long.wait()

    # --- the parts of the world ---

    def _next_action(self, counter: str, side: int) -> Action | None:
        action = self.script.next(counter, side)
        if action is not None:
            self._note(f"action {action.text}")
            self.observer.on_fault(None if counter in OF_BOTH else side, action.text)
            self._saw(side, action)
            self.situations.last_fault = action.kind
        return action

    def _on_message(self, side: int) -> Action | None:
        return self._next_action(MESSAGE, side)

    def _node(self, side: Side, others: OtherNodes) -> FailingNode:
        return FailingNode(
            self.chain,
            lambda: self._next_action(CALL, side),
            lambda: asyncio.get_running_loop().time(),
            lambda: self.blocks.make(),
            0 if side == self.hostile else self.attack.terms.rate,
            others,
            self._rpc_of(side),
        )

    def _rpc_of(self, side: Side) -> RpcNode | None:
        """The RPC of a side's nodes, if they are asked by it."""
        if not self.attack.nodes or not isinstance(self.node, SimulatedChain):
            return None
        return RpcNode(
            self.node,
            self.chain,
            self.attack.nodes,
            Chance(derive(self.attack.seed.encode(), "nodes", side)),
            lambda how: self._violated("node", f"the {NAMES[side]} {how}"),
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
            self.wire.begin(Side.INITIATOR)
            try:
                await reconnecting(link, self.wire.connect, "the other side", chance)
            finally:
                await link.close()

        return connect

    def _copies(self, config: Config) -> OldCopies:
        actions = [
            action
            for action in possible(self.attack.actions)
            if action.kind == OLD_COPY and action.side == config.side
        ]
        return OldCopies(self.folder / config.name, actions, self.hostile is None)

    def _real_process(self, config: Config) -> SideProcess | None:
        if self.real is None or config.side == self.hostile:
            return None
        return self.real.side(config, self.folder / config.name)

    def _make_hostile(self, peer: Peer) -> HostileSide:
        rewind = self.blocks.rewind
        if self.real is not None:
            rewind = self.real.rewinding(rewind)
        around = Surroundings(
            seed=self.attack.seed.encode(),
            games=self.attack.games,
            chain=self.chain,
            rewind=rewind,
            took_place=self._took_place,
            reconnect=lambda: asyncio.get_running_loop().call_soon(
                self.wire.reset, Action("reset", 0, 0)
            ),
        )
        side = Side(peer.config.side)
        self._hostile = HostileSide(peer, self.script.take(STEP, side), around)
        return self._hostile

    def _deal(self, decks: int) -> None:
        """Make decks for both sides, where a dealer does, as many as both may have.

        A process that is down gets none.
        """
        peers = self.parties[0].peer, self.parties[1].peer
        for _ in range(decks):
            playing = all(peer.phase is Phase.PLAYING for peer in peers)
            if not playing or any(peer.play.decks.is_full for peer in peers):
                return
            both = dealt(peers, self.attack.seed.encode())
            for process, each in zip(self.processes, both, strict=True):
                if process.runner is not None:
                    process.runner.dealt(each)

    def _took_place(self, action: Action) -> None:
        self.script.done.append(action)
        self._note(f"action {action.text}")

    # --- what happens ---

    def _listen(self, event: SessionEvent) -> None:
        self._steps += 1 + (len(event.effects) if isinstance(event, Handled) else 0)
        if self._steps > MOST_STEPS and not self._too_long.is_set():
            self._too_long.set()
            self._violated("ends", f"it goes on after {MOST_STEPS:,} events and effects")
        self.run_log(self._journalled(event))
        self._note(_text(event))
        if not isinstance(event, BlockMade):  # of either side, when it sees one
            self.observer.on_event(event)
        if (side := side_of(event)) is not None:
            if isinstance(event, Pushed) and event.name != FUNDING and side != self.hostile:
                self._crowd_comes()
            self._saw(side, event)
            state, place = self.parties[side].peer.state, partial(self.script.place, side)
            for landmark in self.situations.follow(side, event, state, place):
                self.script.mark(landmark, side)
        for violation in self.monitors.step(event):
            self._violated(violation.monitor, violation.text)

    def _journalled(self, event: SessionEvent) -> SessionEvent:
        """The event as a journal has it: a fault in the place of what a side failed to handle."""
        if not isinstance(event, Handled) or not isinstance(event.event, FAILS_AT):
            return event
        told = [effect.news for effect in event.effects if isinstance(effect, Tell)]
        faults = [news for news in told if isinstance(news, OwnFault)]
        return Handled(event.peer, Fault(faults[0].reason), event.effects) if faults else event

    def _crowd_comes(self) -> None:
        if self._filled is not None:
            self._filled.come()

    def _new_peer(self, peer: Peer) -> None:
        party = self.parties[peer.config.side]
        party.peer = party.actor = peer
        if self._hostile is not None and self._hostile.peer is peer:
            party.actor = self._hostile.witness

    def _compare(self, process: Process, before: Instant, after: PeerState) -> None:
        if before.unsure is not None and self.monitors.was_stored(before.states, after):
            process.report_stored(*before.unsure)
        states = before.states
        older = (
            msgspec.structs.replace(state, last_received=digest)
            for digest in process.lasting
            for state in before.states
        )
        states = (*states, *older)
        for how in self.monitors.restart(states, after):
            self._violated("restart", f"the {process.config.name}: {how}")
        if any(as_restarted(state) is not state for state in before.states):
            # To the model of the conversation, this loses held messages as a connection does.
            self.run_log(Handled(process.config.name, Connected(), ()))
        self._note(f"{process.config.name} starts again")
        self._saw(process.side, Restarted())
        self.observer.on_fault(process.side, "starts again from its store")

    def _note_killed(self, side: Side, kill: Kill, lost: Sequence[Effect]) -> None:
        self._saw(side, Killed(kill, tuple(lost)))
        left_out = f", {counted(len(lost), 'effect')} not carried out" if lost else ""
        self.observer.on_fault(side, f"is killed{left_out}")

    def _saw(self, side: int, what: SessionEvent | Action | Killed | Restarted) -> None:
        self.events.append(Noted(self.chain.peak(), side, what))

    def _fails(self, process: Process, error: BaseException) -> None:
        # The folder has another name in each run.
        reason = f"{error}".replace(str(self.folder), "")
        self._violated(
            "ends", f"the {process.config.name} ended by {type(error).__name__}: {reason}"[:300]
        )

    def _violated(self, monitor: str, text: str) -> None:
        self._note(f"violated {monitor}: {text}")
        self.observer.on_fault(None, f"broken monitor {monitor}: {text}")
        self.monitors.add(Violation(monitor, text))
        if len(self.monitors.violations) > MOST_VIOLATIONS:
            self._too_long.set()

    def _note(self, line: str) -> None:
        with suppress(RuntimeError):  # the loop has ended: the time is its last
            self._seconds = asyncio.get_running_loop().time()
        self.log.append(f"{self._seconds:.6f} {line}")


def _text(event: SessionEvent) -> str:
    """A line that two equal events share, and no others."""
    return f"{type(event).__name__} {sha256(repr(event).encode()).hexdigest()[:16]}"
