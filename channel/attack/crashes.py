"""The campaign of `crash-test`: sessions under attack whose processes are killed, or real ones.

Each comes back from its store, repeats the same bytes, and signs nothing that contradicts what it
signed before; all promises hold as if it had never been killed.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from channelsim.channel import __version__
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import broken_by, described
from channelsim.channel.attack.crashed_run import SIGNATURE, CrashedRun
from channelsim.channel.attack.kill_scripts import kill_script
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.attack.side_processes import side_processes
from channelsim.channel.attack.situations import Killed
from channelsim.channel.attack.world import run, run_observed
from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.job import Counts, Reporter, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.findings.finding import EXCEPTION, Finding
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.kills import AIMS, Kill, Stage
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.games.chance import Chance
from channelsim.games.deck import group

MOST_IDLE = 100
"""The most runs in a row without a kill: if all runs fail before one, there are never enough."""

KILLS_PER_SHARD = 25
"""Kills of one shard; more shards are shared among processes."""

MOST_IN_RUN = 6
"""The most kills of one run: with more, no time would be left to play."""

ONE_IN = 40
"""The process of a node is killed at one in so many changes."""


class Due:
    """Kills to be done: those of scripts, as they are counted, and of nodes by chance.

    Each run is aimed at the stage of a session that had the fewest kills so far.
    """

    def __init__(self, seed: str, kills: int) -> None:
        self.chance = Chance(derive(seed.encode(), "kills"))
        self.left = kills
        self.most = 0
        self._done: Counter[Stage] = Counter()

    def aim(self) -> Stage:
        """Begin a run, aimed at this stage."""
        self.most = min(self.left, MOST_IN_RUN)
        # Among equals the last one first: it is the one that takes the longest to reach.
        return min(reversed(AIMS), key=lambda stage: self._done[stage])

    def kills_node(self) -> bool:
        """True to kill the node at this change, which counts as one; a script needs the others."""
        strikes = self.left > self.most and self.chance.below(ONE_IN) == 0
        self.left -= strikes
        return strikes

    def count(self, run: CrashedRun) -> None:
        """Count the kills of the peers of a run."""
        stages = [kill.stage for kills in run.kills for kill in kills]
        self._done.update(stages)
        self.left -= len(stages)


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

    `in_worker`: workers are processes, which may be ended without cleaning up after themselves;
    they have their files below a `directory`.
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
        real = self.configuration.options["processes"]
        done: list[CrashedRun] = []
        with bls.remembered():
            for count in itertools.count(shard.first):
                attack = self._script(count, due)
                if real:
                    crashed = run_killed_for_real(attack, due)
                else:
                    with group.remembered():
                        crashed = run_killed(attack)
                due.count(crashed)
                done.append(crashed)
                if due.left <= 0 or _is_idle(done) or stops(shard.budget - due.left):
                    break
        return msgspec.json.encode(done)

    def _script(self, count: int, due: Due) -> Attack:
        """The script of the run with this number."""
        configuration, stage = self.configuration, due.aim()
        mixed = configuration.options["mixed"]
        return kill_script(configuration.seed, count, stage, due.most, mixed=mixed)


def crashes(kills: int, seed: str, *, processes: bool = False, mixed: bool = False) -> Crashes:
    """The campaign of so many kills; with `processes`, each peer is a process of its own.

    Where blocks are `mixed`, one in three carries transactions.
    """
    options = {"kills": kills, "processes": processes, "mixed": mixed}
    return Crashes(Configuration("crash-test", __version__, "honest peers", seed, {}, options))


def run_killed(attack: Attack) -> CrashedRun:
    """Run a script with kills. The one that is shown is shrunk, if something went wrong."""
    try:
        session = run(attack)
    except Exception as error:
        # Any exception is a result of this run; the others go on.
        return _crashed(attack, None, {EXCEPTION: described(error)})
    if not session.violations:
        return _crashed(attack, session, {})
    first = session.violations[0].monitor
    attack = shrunk(attack, lambda plainer: first in broken_by(plainer))
    return _crashed(attack, session, broken_by(attack))


def run_killed_for_real(attack: Attack, due: Due) -> CrashedRun:
    """Run a script in processes: its kills, and those of the node that are due, are real ones.

    They fall at other instants each time, so that the script is not shrunk.
    """
    session: Session | None = None
    node_kills = 0
    with side_processes(attack, dies=due.kills_node, chance=due.chance) as real:
        try:
            session, _ = run_observed(attack, real=real)
        except Exception as error:
            broken = {EXCEPTION: described(error)}
        else:
            broken = {violation.monitor: violation.text for violation in session.violations}
        node_kills = real.node.kills
    return _crashed(attack, session, broken, node_kills)


def _crashed(
    attack: Attack, session: Session | None, broken: dict[str, str], node_kills: int = 0
) -> CrashedRun:
    contradicting = broken.pop(SIGNATURE, None)
    return CrashedRun(
        msgspec.to_builtins(attack),
        (_kills(session, Side.INITIATOR), _kills(session, Side.RECEIVER)),
        () if contradicting is None else (contradicting,),
        tuple(BrokenPromise(monitor, how) for monitor, how in broken.items()),
        node_kills,
        title=attack.text,
    )


def _kills(session: Session | None, side: Side) -> tuple[Kill, ...]:
    events = () if session is None else session.events
    return tuple(
        noted.what.kill for noted in events if isinstance(noted.what, Killed) and noted.side == side
    )


def _is_idle(runs: Sequence[CrashedRun]) -> bool:
    """True if the last runs had no kill, as many as may have none."""
    last = runs[-MOST_IDLE:]
    return len(last) == MOST_IDLE and not any(run.all_kills for run in last)
