"""Every law on generated cases, as a campaign whose seeds are chunks of cases.

A chunk depends on the seed of the crosscheck and its own number alone, and chunks are added up in
their order: the same seed gives the same counts for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from time import perf_counter

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.engine import CampaignStatus, Journal
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.job import Counts, ShardProgress, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.describe import described_run
from channelsim.channel.lab.cases.tally_record import TallyRecord, tally_of, tally_record
from channelsim.channel.lab.cases.trial import SAMPLES, LabTally
from channelsim.channel.lab.crosscheck.chunks import CHUNK, run_chunk
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.channel.system.process_executor import parent
from channelsim.games.vectors import Case, arguments

MOST_SHARDS = 256
"""Shards of a crosscheck, at most: their results are stored."""

OFTEN = 0.1
"""The seconds between two messages of a shard on its progress, at least."""


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

    @property
    def disagreements(self) -> int:
        """The number of cases on which rules and program disagreed."""
        return sum(n for (law, *_), n in self.tally.broken.items() if law == "verdicts agree")

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
    return (_with_run(target, finding) for finding in tally.causes())


def counts(tally: LabTally) -> Counts:
    """The counts of a campaign so far."""
    return {"findings": len(tally.findings), "paths": sum(map(len, tally.prints.values()))}


def _with_run(target: Target, finding: Finding) -> Finding:
    run = finding.brun
    if not run and finding.vector is not None and finding.place in target.present:
        case = msgspec.convert(finding.vector, Case)
        environment = arguments(case, target.name, target.programs)
        run = described_run(target.programs[case.validator].serialized, environment)
    return msgspec.structs.replace(finding, target=target.name, source=target.source, brun=run)


def configuration(target: Target, cases: int, seed: str) -> Configuration:
    """What decides on the results of a crosscheck."""
    return Configuration(
        "crosscheck", __version__, target.name, seed, target_inputs(target), {"cases": cases}
    )


def plan(configuration: Configuration, cases: int) -> Plan:
    """The crosscheck's work in cases, cut into shards of whole chunks."""
    chunks = -(-cases // CHUNK)
    return Plan(configuration.digest, cases, CHUNK, -(-chunks // MOST_SHARDS))


def crosscheck(
    target: Target,
    cases: int,
    seed: str,
    jobs: int = 1,
    *,
    workers: Workers | None = None,
    journal: Journal[ChunkTally] | None = None,
    on_result: Callable[[LabTally], object] = lambda tally: None,
    on_status: Callable[[CampaignStatus], None] = lambda status: None,
) -> CrosscheckReport:
    """Try every law on this many cases; an interrupt ends it early and keeps the results so far.

    By default, `workers` are so many processes (`jobs`). `on_result` gets the counts so far with
    each result. Raises `UsageError` for a target without rules or honest moves.
    """
    target.check_playable()
    made = configuration(target, cases, seed)
    cut = plan(made, cases)
    so_far = LabTally()

    def add(_: Shard, part: ChunkTally) -> Counts:
        so_far.merge(part.tally)
        on_result(so_far)
        return counts(so_far)

    if workers is None:
        workers = processes(min(jobs, cut.size), inline=True)
    run = engine.run(
        CrosscheckJob(target, seed, cases, made.inputs), cut, workers, journal, add, on_status
    )
    total = _total({**run.partial, **run.results})
    digest = sha256(made.digest.encode() + _json(total))
    return CrosscheckReport(
        target,
        seed,
        total.cases,
        run.seconds,
        total.tally,
        run.interrupted,
        cut.size,
        tuple(run.lost),
        None if run.interrupted else digest.hexdigest(),
        sum(run.results[shard].cases for shard in run.earlier),
    )


@dataclass(frozen=True)
class ChunkTally:
    """The counts of some chunks, and how many cases these had."""

    cases: int = 0
    tally: LabTally = field(default_factory=LabTally)


def _total(results: Mapping[Shard, ChunkTally]) -> ChunkTally:
    """The counts of all shards. A halved shard gives what the whole one would have given."""
    total, done = LabTally(), 0
    parts = in_order({shard: (shard.number, part) for shard, part in results.items()})
    for number, halves in groupby(parts, key=itemgetter(0)):
        tally = LabTally()
        for _, part in halves:
            tally.merge(part.tally)
            done += part.cases
        tally.limit_samples(_samples(number))
        total.merge(tally)
    return ChunkTally(done, total)


def _samples(number: int) -> int:
    """The number of runs of each outcome that a shard stores for coverage, by its own number.

    The first shards fill most of what `SAMPLES` allows, so later ones need few. One is enough for
    an outcome that only they have.

    >>> [_samples(number) for number in (0, 1, 11, 255)]
    [24, 12, 2, 1]
    """
    return max(1, SAMPLES // (number + 1))


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`ChunkTally` in the result of a shard."""

    cases: int
    tally: TallyRecord


def _json(part: ChunkTally) -> bytes:
    return msgspec.json.encode(_Written(part.cases, tally_record(part.tally)))


@dataclass
class _Watch:
    """Ends a shard at its budget, or early, and tells how far it is.

    `before` are the cases of the chunks that are done, `chunk` those of the chunk under way.
    """

    budget: int
    before: int = 0
    chunk: int = 0
    notified: float = field(default_factory=perf_counter)

    def __call__(self, done: int) -> int:
        """How many more cases to try at most, in a chunk with so many `done`."""
        self.chunk = done
        if perf_counter() - self.notified > OFTEN:
            self.notified = perf_counter()
            parent().send(ShardProgress(self.before + done))
        return 0 if parent().wants_stop() else self.budget - self.before - done


@dataclass(frozen=True)
class CrosscheckJob:
    """The chunks of a crosscheck; `cases` are those of all chunks, `inputs` those of its
    configuration."""

    target: Target
    seed: str
    cases: int
    inputs: Mapping[str, str]

    returns_early = True

    def worker(self) -> ShardWork:
        """Get ready to try the laws on chunks."""
        check_inputs(self.target, self.inputs)
        return self._try

    def decode(self, data: bytes) -> ChunkTally:
        """The counts in the JSON of a shard."""
        written = msgspec.json.decode(data, type=_Written)
        return ChunkTally(written.cases, tally_of(written.tally))

    def _try(self, shard: Shard) -> bytes:
        tally, watch = LabTally(), _Watch(shard.budget)
        for number in shard.seeds:
            some = min(CHUNK, self.cases - number * CHUNK)
            chunk = run_chunk(self.target, self.seed, number, some, watch)
            tally.merge(chunk)
            watch.before += watch.chunk
        tally.limit_samples(_samples(shard.number))
        return _json(ChunkTally(watch.before, tally))
