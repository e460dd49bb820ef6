"""Sweeps of disputes as campaigns, and what they find.

Each seed is one adversary with one menu of games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256

import msgspec

from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.job import (
    Counts,
    Reporter,
    ShardWork,
    check_plugins,
    decoded,
)
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto import bls
from channelsim.channel.findings.finding import BROKEN_PROMISE, Finding
from channelsim.channel.simulation.promises.checker import SEVERITY, BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.scenario_command import command_of
from channelsim.channel.simulation.sweep import SweepTotals, row_of

MOST_SHARDS = 4096
"""Shards of a sweep, at most: their results are stored."""

TOGETHER = 16
"""Adversaries in a row of which signatures are remembered."""


@dataclass(frozen=True)
class SweepReport:
    """The totals of a sweep, and the adversaries that crashed their workers (`lost`).

    `digest` is the SHA-256 of configuration and totals; None if the sweep was interrupted.
    """

    totals: SweepTotals
    shards: int = 1
    lost: tuple[Shard, ...] = ()
    digest: str | None = None

    @property
    def interrupted(self) -> bool:
        """True if not everything was run."""
        return self.totals.interrupted

    @cached_property
    def findings(self) -> list[Finding]:
        """Each mistake once."""
        return findings(self.totals.found)


@dataclass(frozen=True)
class Sweep:
    """The campaign: the disputes with so many adversaries, at least `at_once` of them in a shard.

    `runs` does all runs of the adversary with a number, from 0, and yields the totals of each.
    """

    runs: Callable[[int], Iterator[SweepTotals]]
    configuration: Configuration
    adversaries: int
    at_once: int = 1

    returns_early = True
    unit, units = "adversary", "adversaries"

    @property
    def plan(self) -> Plan:
        """The work in adversaries."""
        most = max(self.at_once, -(-self.adversaries // MOST_SHARDS))
        return Plan(self.configuration.digest, self.adversaries, unit=1, seeds_per_shard=most)

    def worker(self) -> ShardWork:
        """Get ready to run disputes. Raises `UsageError` where a plug-in is another one."""
        check_plugins(self.configuration.inputs)
        return self._run

    def decode(self, data: bytes) -> SweepTotals:
        """The totals in the JSON of a shard."""
        return decoded(data, SweepTotals)

    def _run(self, shard: Shard) -> bytes:
        totals, stops = SweepTotals(), Reporter()
        for begun in shard.seeds[::TOGETHER]:
            # Runs of one hand sign the same until an adversary deviates.
            with bls.remembered():
                for number in shard.seeds[begun - shard.first :][:TOGETHER]:
                    for part in self.runs(number):
                        totals.merge(part)
                        if stops(number - shard.first, lambda: {"runs": totals.runs}):
                            return _json(totals)
        return _json(totals)

    def run(self, place: Place) -> SweepReport:
        """Run all disputes; an interrupt ends it early, with the totals so far."""
        so_far = SweepTotals()

        def count(part: SweepTotals) -> tuple[Counts, Iterable[Finding]]:
            """Count the runs and the different findings so far."""
            so_far.merge(part)
            mistakes = findings(so_far.found)
            return {"findings": len(mistakes), "runs": so_far.runs}, mistakes

        run = run_shards(self, place, count)
        totals = SweepTotals(interrupted=run.interrupted)
        for part in in_order({**run.partial, **run.results}):
            totals.merge(part)
        digest = None
        if not run.interrupted:
            digest = sha256(self.configuration.digest.encode() + _json(totals)).hexdigest()
        return SweepReport(totals, self.plan.size, tuple(run.lost), digest)


def _json(totals: SweepTotals) -> bytes:
    return msgspec.json.encode(totals, order="deterministic")


# --- findings ---------------------------------------------------------------------------------


def findings(found: Iterable[Finding]) -> list[Finding]:
    """Each mistake once, in the first dispute that shows it, with its frequency."""
    first: dict[str, Finding] = {}
    for finding in found:
        shown = first.get(finding.mistake)
        if shown is not None:
            finding = msgspec.structs.replace(shown, times=shown.times + finding.times)
        first[finding.mistake] = finding
    return list(first.values())


def of_run(run: Run, broken: Iterable[BrokenPromise]) -> list[Finding]:
    """The broken promises of one dispute, each once."""
    return findings(finding_of(run.scenario, promise) for promise in broken)


def finding_of(scenario: Scenario, promise: BrokenPromise) -> Finding:
    """A broken promise; those with the same adversary, games and promise are one mistake."""
    row = row_of(scenario)
    return Finding(
        rule=promise.promise,
        place=f"{row}, {', '.join(scenario.games)}",
        severity=SEVERITY.get(promise.promise, BROKEN_PROMISE),
        text=f"{promise.promise}: {promise.how}",
        loss=promise.loss,
        scenario=asdict(scenario),
        mistake=f"{row} {' '.join(scenario.games)} {promise.promise}",
        replay=command_of(scenario),
    )
