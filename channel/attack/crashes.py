"""The campaign of `crash-test`: sessions under attack whose processes are killed, or real ones.

Real processes are those of `simulation/crashes`.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree

import msgspec

from channelsim.channel import __version__
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import broken_by, described
from channelsim.channel.attack.kill_scripts import kill_script
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.attack.situations import Killed
from channelsim.channel.attack.world import run
from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.job import Counts, Reporter, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto import bls
from channelsim.channel.findings.finding import EXCEPTION, Finding
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.crashes import (
    SIGNATURE,
    CrashedRun,
    Due,
    run_in_processes,
    scenario_of,
)
from channelsim.channel.simulation.kills import Kill, Stage
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import MIXED
from channelsim.games.deck import group

MOST_IDLE = 100
"""The most runs in a row without a kill: if all runs fail before one, there are never enough."""

KILLS_PER_SHARD = 25
"""Kills of one shard; more shards are shared among processes."""


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
            for crashed in runs:
                if crashed.failed:
                    place.say("\n".join((f"{crashed.title}:", *crashed.details)))
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
            for crashed in runs:
                totals.add(crashed)
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
        """Run sessions until there are enough kills."""
        stops, due = Reporter(), Due(f"{self.configuration.seed}/{shard.first}", shard.budget)
        runs = self._processes if self.configuration.options["processes"] else self._scripts
        done: list[CrashedRun] = []
        with bls.remembered():
            for crashed in runs(shard, due):
                done.append(crashed)
                if not due.left or _is_idle(done) or stops(shard.budget - due.left):
                    break
        return msgspec.json.encode(done)

    def _processes(self, shard: Shard, due: Due) -> Iterator[CrashedRun]:
        configuration = self.configuration
        for count in itertools.count(shard.first):
            scenario = scenario_of(configuration.seed, count, due.aim())
            if configuration.options["mixed"]:
                scenario = replace(scenario, **MIXED)
            folder = Path(self.directory) / f"{shard.first}-{shard.budget}-{count}"
            folder.mkdir()
            yield run_in_processes(scenario, folder, due)
            rmtree(folder)

    def _scripts(self, shard: Shard, due: Due) -> Iterator[CrashedRun]:
        configuration = self.configuration
        for count in itertools.count(shard.first):
            stage, mixed = due.aim(), configuration.options["mixed"]
            attack = kill_script(configuration.seed, count, stage, due.most, mixed=mixed)
            with group.remembered():
                crashed = run_killed(attack)
            due.count([kill.stage for kills in crashed.kills for kill in kills])
            yield crashed


def crashes(kills: int, seed: str, *, processes: bool = False, mixed: bool = False) -> Crashes:
    """The campaign of so many kills; with `processes`, each peer is a process of its own.

    Where blocks are `mixed`, one in three carries transactions.
    """
    options = {"kills": kills, "processes": processes, "mixed": mixed}
    return Crashes(Configuration("crash-test", __version__, "honest peers", seed, {}, options))


def run_killed(attack: Attack) -> CrashedRun:
    """Run a script with kills. The one that is shown is shrunk, if something went wrong."""
    kills: tuple[tuple[Kill, ...], tuple[Kill, ...]] = ((), ())
    broken: dict[str, str] = {}
    try:
        session = run(attack)
    except Exception as error:
        # Any exception is a result of this run; the others go on.
        broken = {EXCEPTION: described(error)}
    else:
        kills = _kills(session, Side.INITIATOR), _kills(session, Side.RECEIVER)
        if session.violations:
            first = session.violations[0].monitor
            attack = shrunk(attack, lambda plainer: first in broken_by(plainer))
            broken = broken_by(attack)
    contradicting = broken.pop(SIGNATURE, None)
    return CrashedRun(
        msgspec.to_builtins(attack),
        kills,
        () if contradicting is None else (contradicting,),
        tuple(BrokenPromise(monitor, how) for monitor, how in broken.items()),
        title=attack.text,
    )


def _kills(session: Session, side: Side) -> tuple[Kill, ...]:
    return tuple(
        noted.what.kill
        for noted in session.events
        if isinstance(noted.what, Killed) and noted.side == side
    )


def _is_idle(runs: Sequence[CrashedRun]) -> bool:
    """True if the last runs had no kill, as many as may have none."""
    last = runs[-MOST_IDLE:]
    return len(last) == MOST_IDLE and not any(run.all_kills for run in last)
