"""Sessions and disputes in which honest peers are killed again and again, and come back.

Each comes back from its store, repeats the same bytes, and signs nothing that contradicts what it
signed before; all promises hold as if it had never been killed.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import rmtree

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.job import Counts, Reporter, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import PUBLIC_LIKE
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, Finding
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import Computing
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.kills import AIMS, Kill, Stage
from channelsim.channel.simulation.peer_process import PeerProcess
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.promises.checker import BrokenPromise, check
from channelsim.channel.simulation.promises.crash_safety import contradictions
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.scenario import MIXED, Scenario, adversaries_for
from channelsim.channel.simulation.side_process import Work
from channelsim.channel.simulation.sweep import menus
from channelsim.channel.simulation.sweep_campaign import finding_of
from channelsim.channel.store.interface import PeerStore
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games import registry
from channelsim.games.chance import Chance

ONE_IN, AIMED = 40, 4
"""A peer is killed at one in so many instants, and at one in so many of the stage aimed at."""

MOST_IN_RUN = 6
"""The most kills of one run: with more, no time would be left to play."""

CONTRADICTIONS, PROMISES = "no contradictory signature", "promises"
"""The rules that a run may break."""

MOST_IDLE = 100
"""The most runs in a row without a kill: if all runs fail before one, there are never enough."""

KILLS_PER_SHARD = 25
"""Kills of one shard; more shards are shared among processes."""

Dies = Callable[[int, Kill], bool]
"""True if the peer of this side is killed at this instant."""


@dataclass(frozen=True, slots=True)
class CrashedRun:
    """A run whose honest peers were killed: when, and what went wrong, a line each.

    `kills` are the initiator's, then the receiver's; `node_kills` is how often the node was killed.
    """

    scenario: Scenario
    kills: tuple[tuple[Kill, ...], tuple[Kill, ...]]
    contradictions: tuple[str, ...]
    broken: tuple[BrokenPromise, ...]
    node_kills: int = 0

    @property
    def failed(self) -> bool:
        """True if anything went wrong."""
        return bool(self.contradictions or self.broken)

    @property
    def all_kills(self) -> int:
        """How often a peer or the node was killed."""
        return sum(map(len, self.kills)) + self.node_kills

    @property
    def title(self) -> str:
        """The scenario in a few words."""
        scenario = self.scenario
        who = f"{scenario.adversary}@{scenario.step}" if scenario.adversary else "honest play"
        mix = ", mixed blocks" if scenario.mixed else ""
        return f"{who}, seed {scenario.seed}, {scenario.weather}{mix}"

    @property
    def details(self) -> list[str]:
        """What went wrong, a line each."""
        broken = (f"{promise.promise}: {promise.how}" for promise in self.broken)
        return [f"    {line}" for line in (*self.contradictions, *broken)]

    @property
    def findings(self) -> list[Finding]:
        """What went wrong, as findings."""
        place, scenario = self.title, asdict(self.scenario)
        contradicting = (
            Finding(
                rule=CONTRADICTIONS,
                place=place,
                severity=BROKEN_PROMISE,
                text=text,
                scenario=scenario,
            )
            for text in self.contradictions
        )
        # Without its kills, the dispute would not show it again.
        broken = (
            msgspec.structs.replace(
                finding_of(self.scenario, promise), rule=PROMISES, place=place, replay=""
            )
            for promise in self.broken
        )
        return [*contradicting, *broken]


@dataclass(slots=True)
class CrashTotals:
    """Totals over many runs; `failed` are the runs in which something went wrong.

    `node_kills` are among the `kills`; `stages` counts the others by stage. `lost` are the shards
    that crashed their workers. `idle`: some ended because `MOST_IDLE` runs in a row had no kill.
    """

    kills: int = 0
    node_kills: int = 0
    stages: Counter[Stage] = field(default_factory=Counter)
    sessions: int = 0
    failed: list[CrashedRun] = field(default_factory=list)
    interrupted: bool = False
    lost: tuple[Shard, ...] = ()
    idle: bool = False

    @property
    def findings(self) -> list[Finding]:
        """Everything that went wrong."""
        return [finding for run in self.failed for finding in run.findings]

    def add(self, run: CrashedRun) -> None:
        """Count a run."""
        self.kills += run.all_kills
        self.node_kills += run.node_kills
        self.stages.update(kill.stage for kills in run.kills for kill in kills)
        self.sessions += 1
        if run.failed:
            self.failed.append(run)


def run_killed(
    scenario: Scenario,
    dies: Dies,
    store: Callable[[], PeerStore] = MemoryStore,
    compute_deck: Computing | None = None,
) -> CrashedRun:
    """Run a scenario with its honest peers killed at these instants; `store` makes their stores."""
    return run_crashing(
        scenario,
        lambda peer: RemoteActor(peer, partial(dies, peer.config.side), store=store()),
        compute_deck=compute_deck,
    )


def run_crashing(
    scenario: Scenario,
    make: Callable[[Peer], RemoteActor],
    node: FarmableChain | None = None,
    compute_deck: Computing | None = None,
) -> CrashedRun:
    """Run a scenario with what `make` makes in the place of its honest peers, and check it.

    `node` takes the place of the scenario's chain. `compute_deck` computes the steps of its decks;
    from the scenario's seed by default.
    """
    killed: dict[Side, RemoteActor] = {}

    def wrap(peer: Peer) -> Actor:
        killed[peer.config.side] = make(peer)
        return killed[peer.config.side]

    contradicting: list[str] = []
    try:
        chain = (lambda seed: node) if node else None
        run = Arena(scenario, node=chain, wrap=wrap, compute_deck=compute_deck).run()
        broken = check(run)
        contradicting = [
            f"{NAMES[side]} sent {how}"
            for side in killed
            for how in contradictions(run.parties[side].sent)
        ]
    except Exception as error:
        # Any exception is a result of this run; the others go on.
        broken = [BrokenPromise(EXCEPTION, f"{type(error).__name__}: {error}"[:300])]
    finally:
        for actor in killed.values():
            actor.close()
    first, second = (tuple(killed[side].kills) if side in killed else () for side in Side)
    return CrashedRun(scenario, (first, second), tuple(contradicting), tuple(broken))


@dataclass(frozen=True)
class Crashes:
    """The campaign: sessions until so many kills are done, as the options of its configuration say.

    Processes have their stores below a `directory`. `in_worker`: workers are processes, which may
    be ended without cleaning up after themselves.
    """

    configuration: Configuration
    directory: str = ""
    in_worker: bool = False

    returns_early = True
    unit, units = "kill", "kills"

    @property
    def plan(self) -> Plan:
        """The work in kills."""
        configuration = self.configuration
        return Plan(configuration.digest, configuration.options["kills"], KILLS_PER_SHARD)

    def run(self, place: Place) -> CrashTotals:
        """Run sessions; a run in which something went wrong is said once its shard is done."""

        def hear(runs: list[CrashedRun]) -> tuple[Counts, Iterable[Finding]]:
            """Say what went wrong in runs that are done."""
            for run in runs:
                if run.failed:
                    place.say("\n".join((f"{run.title}:", *run.details)))
            return {}, ()

        # The folder is ours, so that no worker that is ended early leaves one behind.
        with tempfile.TemporaryDirectory(
            prefix="channelsim-", ignore_cleanup_errors=True
        ) as folder:
            inside = replace(self, directory=folder, in_worker=not place.workers().inline)
            done = run_shards(inside, place, hear)
        totals = CrashTotals(interrupted=done.interrupted, lost=tuple(done.lost))
        for runs in in_order({**done.partial, **done.results}):
            totals.idle |= _is_idle(runs)
            for run in runs:
                totals.add(run)
        return totals

    def worker(self) -> ShardWork:
        """Get ready to run sessions."""
        if self.in_worker and self.configuration.options["processes"]:
            tempfile.tempdir = self.directory
        return self._run

    def decode(self, data: bytes) -> list[CrashedRun]:
        """The runs in the JSON of a shard."""
        return msgspec.json.decode(data, type=list[CrashedRun])

    def _run(self, shard: Shard) -> bytes:
        """Run scenarios until there are enough kills."""
        seed, options, stops = self.configuration.seed, self.configuration.options, Reporter()
        due = _Due(f"{seed}/{shard.first}", shard.budget)
        done: list[CrashedRun] = []
        with bls.remembered():
            for number, scenario in enumerate(due.scenarios(seed, shard.first)):
                if stops(shard.budget - due.left) or _is_idle(done):
                    break
                if options["mixed"]:
                    scenario = replace(scenario, **MIXED)
                if not options["processes"]:
                    done.append(run_killed(scenario, lambda side, kill: due.now(kill.stage)))
                else:
                    folder = Path(self.directory) / f"{shard.first}-{shard.budget}-{number}"
                    folder.mkdir()
                    done.append(_run_in_processes(scenario, folder, due))
                    rmtree(folder)
        return msgspec.json.encode(done)


def crashes(kills: int, seed: str, *, processes: bool = False, mixed: bool = False) -> Crashes:
    """The campaign of so many kills; with `processes`, each peer is a process of its own.

    Where blocks are `mixed`, one in three carries transactions.
    """
    options = {"kills": kills, "processes": processes, "mixed": mixed}
    return Crashes(Configuration("crash-test", __version__, "honest peers", seed, {}, options))


def _is_idle(runs: Sequence[CrashedRun]) -> bool:
    """True if the last runs had no kill, as many as may have none."""
    last = runs[-MOST_IDLE:]
    return len(last) == MOST_IDLE and not any(run.all_kills for run in last)


def _run_in_processes(scenario: Scenario, directory: Path, due: _Due) -> CrashedRun:
    def make(peer: Peer) -> RemoteActor:
        process = PeerProcess(peer.config, Work(directory / peer.config.name))
        return RemoteActor(
            peer, lambda kill: due.now(kill.stage), process=process, chance=due.chance
        )

    seed, path = node_seed(scenario.seed.encode()), directory / "chain"
    settings = msgspec.structs.replace(PUBLIC_LIKE, mixed=scenario.mixed)
    with closing(ProcessNode(path, seed, due.now, due.chance, settings=settings)) as node:
        run = run_crashing(scenario, make, node)
    return replace(run, node_kills=node.kills)


class _Due:
    """Decides at which instants to kill: at random ones, until enough are done.

    In each run they are aimed at the stage of a session that had the fewest kills so far.
    """

    def __init__(self, seed: str, kills: int) -> None:
        self.chance = Chance(derive(seed.encode(), "kills"))
        self.left = kills
        self._aim = Stage.REST
        self._in_run = 0
        self._done: Counter[Stage] = Counter()

    def now(self, stage: Stage = Stage.REST) -> bool:
        """Whether to kill at this instant of a stage; a node's have none."""
        odds = AIMED if stage is self._aim else ONE_IN
        room = self.left > 0 and self._in_run < MOST_IN_RUN
        strikes = room and self.chance.below(odds) == 0
        self.left -= strikes
        self._in_run += strikes
        self._done[stage] += strikes
        return strikes

    def scenarios(self, seed: str, first: int) -> Iterator[Scenario]:
        """The scenarios to run, as long as kills are left."""
        for count in itertools.count(first):
            if not self.left:
                return
            # Among equals the last one first: it is the one that takes the longest to reach.
            self._aim = min(reversed(AIMS), key=lambda stage: self._done[stage])
            self._in_run = 0
            yield scenario_of(seed, count, self._aim)


def scenario_of(seed: str, count: int, stage: Stage) -> Scenario:
    """A session or dispute that has this stage, otherwise by chance."""
    chance = Chance(derive(seed.encode(), "scenario", count))
    scenario = _with_stage(stage, chance)
    return replace(scenario, seed=f"{seed}/{count}", weather=chance.pick(WEATHERS))


def _with_stage(stage: Stage, chance: Chance) -> Scenario:
    """A session or dispute that has this stage."""
    all_menus = menus()
    adversary = chance.pick(adversaries_for(menu.games for menu in all_menus))
    menu = replace(
        chance.pick(all_menus), adversary=adversary, step=chance.below(16), side=chance.below(2)
    )
    match stage:
        case Stage.DECK_STEP:
            # Only agreed players prepare their decks; short ones take the least time.
            games = [game for game in registry.channel_games() if 0 < game.deck_positions <= SHORT]
            return Scenario((chance.pick(games).name,), "", hands=2, agreed=True)
        case Stage.BATCH | Stage.SHUTDOWN if chance.below(2):
            return Scenario((registry.DEFAULT,), "", hands=2, agreed=True)
        case Stage.SHUTDOWN:
            return replace(menu, adversary="")
        case Stage.BATCH:
            return menu if chance.below(2) else replace(menu, adversary="")
        case _:
            return menu


SHORT = 10
"""The positions of a short deck."""
