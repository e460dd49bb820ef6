"""Every law on generated cases, as a campaign whose seeds are chunks of cases.

A chunk depends on the seed of the crosscheck and its own number alone, and chunks are added up in
their order: the same seed gives the same counts for any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.campaign import Place, here, run_shards
from channelsim.channel.campaign.job import Counts, Reporter, ShardWork, decoded
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.findings.finding import MOVER, Finding
from channelsim.channel.lab.cases.describe import described_run
from channelsim.channel.lab.cases.sides import named, names_of
from channelsim.channel.lab.cases.trial import SAMPLES, LabTally
from channelsim.channel.lab.crosscheck.chunks import CHUNK, search
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.games.vectors import Case, arguments

MOST_SHARDS = 256
"""Shards of a crosscheck, at most: their results are stored."""


@dataclass(frozen=True)
class ChunkTally:
    """The counts of some chunks, and how many cases these had."""

    cases: int = 0
    tally: LabTally = field(default_factory=LabTally)

    def json(self) -> bytes:
        """The counts as JSON, the same bytes for the same counts."""
        return msgspec.json.encode(ChunkTally(self.cases, self.tally.ordered()))


@dataclass(frozen=True)
class CrosscheckReport:
    """The counts and findings of a crosscheck, and the duration of this run in seconds.

    `interrupted`: before it had tried all that it should. `lost`: the chunks that ended their
    workers, with the number of cases that were not tried. `digest` is the SHA-256 of configuration,
    counts and findings; None if it was interrupted. `earlier`: the cases of earlier runs.
    """

    target: Target
    seed: str
    cases: int
    seconds: float
    tally: LabTally
    interrupted: bool = False
    shards: int = 0
    lost: tuple[Shard, ...] = ()
    digest: str | None = None
    earlier: int = 0

    @property
    def rate(self) -> float:
        """The cases on which this run tried a program in a second."""
        if not self.cases or not self.seconds:
            return 0.0
        return self.compared * (1 - self.earlier / self.cases) / self.seconds

    @cached_property
    def findings(self) -> list[Finding]:
        """Each cause once, the most frequent first."""
        return list(findings(self.target, self.tally))

    @property
    def compared(self) -> int:
        """The number of cases on which a program ran: all, unless programs are missing."""
        if not self.target.missing:
            return self.cases
        return sum(counts.total() for counts in self.tally.outcomes.values())


def findings(target: Target, tally: LabTally) -> Iterator[Finding]:
    """The causes that were found on a target, as they are written: with their runs.

    By its `brun` a trace knows that the programs are still the same.
    """
    for finding in tally.causes():
        run = finding.brun
        if not run and finding.vector is not None and finding.place in target.present:
            case = msgspec.convert(finding.vector, Case)
            environment = arguments(case, target.name, target.programs)
            run = described_run(target.programs[case.validator].serialized, environment)
        loss = finding.loss
        if loss is not None and MOVER in (loss.taker, loss.loser):
            loss = named(names_of(target, finding.place), loss)
        yield msgspec.structs.replace(
            finding, target=target.name, source=target.source, brun=run, loss=loss
        )


@dataclass(frozen=True)
class Crosscheck:
    """The campaign: the laws on so many cases of a target, cut into shards of whole chunks."""

    target: Target
    configuration: Configuration

    returns_early = True
    unit, units = "case", "cases"

    @property
    def plan(self) -> Plan:
        """The work in cases."""
        cases = self.configuration.options["cases"]
        chunks = -(-cases // CHUNK)
        return Plan(self.configuration.digest, cases, CHUNK, -(-chunks // MOST_SHARDS))

    def worker(self) -> ShardWork:
        """Get ready to try the laws on chunks."""
        check_inputs(self.target, self.configuration.inputs)
        return self._try

    def decode(self, data: bytes) -> ChunkTally:
        """The counts in the JSON of a shard."""
        return decoded(data, ChunkTally)

    def _try(self, shard: Shard) -> bytes:
        seed, cases = self.configuration.seed, self.configuration.options["cases"]
        tally, done, stops = LabTally(), 0, Reporter()
        for number in shard.seeds:
            chunk, size = LabTally(), min(CHUNK, cases - number * CHUNK)
            left = shard.budget - done
            for tried in search(self.target, seed, number, size, chunk, left):
                done += tried
                if stops(done):
                    break
            tally.merge(chunk, _samples(shard.number))
            if stops(done):
                break
        return ChunkTally(done, tally).json()

    def run(self, place: Place) -> CrosscheckReport:
        """Try the laws; an interrupt ends it early and keeps the results so far."""
        so_far = LabTally()

        def count(part: ChunkTally) -> tuple[Counts, Iterable[Finding]]:
            """Count the findings and paths so far."""
            so_far.merge(part.tally)
            paths = sum(map(len, so_far.prints.values()))
            counts = {"findings": len(so_far.findings), "paths": paths}
            return counts, findings(self.target, so_far)

        run = run_shards(self, place, count)
        total, done = LabTally(), 0
        results = {**run.partial, **run.results}
        parts = in_order({shard: (shard.number, part) for shard, part in results.items()})
        # A halved shard gives what the whole one would have given.
        for number, halves in groupby(parts, key=itemgetter(0)):
            tally = LabTally()
            for _, part in halves:
                tally.merge(part.tally, _samples(number))
                done += part.cases
            total.merge(tally)
        digest = sha256(self.configuration.digest.encode() + ChunkTally(done, total).json())
        return CrosscheckReport(
            self.target,
            self.configuration.seed,
            done,
            run.seconds,
            total,
            run.interrupted,
            self.plan.size,
            tuple(run.lost),
            None if run.interrupted else digest.hexdigest(),
            sum(run.results[shard].cases for shard in run.earlier),
        )


def crosscheck_of(target: Target, cases: int, seed: str) -> Crosscheck:
    """The crosscheck of a target. Raises `UsageError` for one without rules or honest moves."""
    target.check_playable()
    inputs, options = target_inputs(target), {"cases": cases}
    return Crosscheck(
        target, Configuration("crosscheck", __version__, target.name, seed, inputs, options)
    )


def crosscheck(target: Target, cases: int, seed: str, jobs: int = 1) -> CrosscheckReport:
    """Try every law on this many cases, in so many processes. Raises `UsageError`."""
    whole = crosscheck_of(target, cases, seed)
    return whole.run(here(whole, jobs))


def _samples(number: int) -> int:
    """The number of runs of each outcome that a shard stores for coverage, by its own number.

    The first shards fill most of what `SAMPLES` allows, so later ones need few. One is enough for
    an outcome that only they have.

    >>> [_samples(number) for number in (0, 1, 11, 255)]
    [24, 12, 2, 1]
    """
    return max(1, SAMPLES // (number + 1))
