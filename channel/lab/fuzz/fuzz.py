"""Fuzzing a target: a campaign whose seeds are fuzzers that share nothing, in one report.

The same seed, work and corpus give the same findings, for any number of workers; with a time
instead of the work, if every fuzzer completes its work in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.engine import CampaignStatus, Journal
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.job import Counts, ShardProgress, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import stored_findings
from channelsim.channel.lab.cases.corpus import append_lines, read_probes
from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.cases.tally_record import tally_of
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.cases.work import SECOND
from channelsim.channel.lab.fuzz.findings import still_broken
from channelsim.channel.lab.fuzz.fuzz_part import (
    CorpusCase,
    FuzzPart,
    coverage_of,
    decode_part,
    fuzz_part,
)
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.channel.lab.fuzz.grouping import grouped
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.channel.system.interrupt import finishing
from channelsim.channel.system.process_executor import parent
from channelsim.clsp.analysis.tracer import Coverage, CoverageCounts

OFTEN = 0.2
"""The seconds between two progress reports of a fuzzer."""

LEAST_WORK, MOST_WORK = 10 * SECOND, 600 * SECOND
"""The work of one fuzzer, where the work is given: the longer it works the deeper it searches."""

FUZZERS = 64
"""The fuzzers of a campaign whose work is between those bounds."""


@dataclass
class FuzzReport:
    """The findings, counts and coverage of a fuzzing session.

    `seconds` are those of this run. `stopped`: by the clock, or interrupted, before all work was
    done. `mended`: stored findings that no longer happen; `untried`: those that cannot be tried,
    and why. `shards` is the number of fuzzers, and `lost` those that crashed their workers, with
    the work that is missing. `digest` is the SHA-256 of configuration and results; None if
    `stopped`. `earlier` are the runs of validators that earlier runs of the command did.
    """

    target: Target
    seed: str
    jobs: int
    seconds: float = 0.0
    runs: int = 0
    stopped: bool = False
    interrupted: bool = False
    tally: LabTally = field(default_factory=LabTally)
    coverage: dict[str, CoverageCounts] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    mended: list[Path] = field(default_factory=list)
    untried: list[tuple[Path, str]] = field(default_factory=list)
    corpus: list[CorpusCase] = field(default_factory=list)
    shards: int = 0
    lost: tuple[Shard, ...] = ()
    digest: str | None = None
    earlier: int = 0

    @property
    def rate(self) -> float:
        """The runs of validators in a second, in this run of the command."""
        return (self.runs - self.earlier) / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class FuzzSearch:
    """What a campaign of fuzzers does: its configuration, plan and job."""

    target: Target
    seed: str
    stored: tuple[Probe, ...]
    total: int
    unit: int
    limit: float | None = None
    corpus: str = ""

    @property
    def configuration(self) -> Configuration:
        """What decides on the results."""
        inputs = target_inputs(self.target)
        if self.corpus:
            inputs["corpus"] = self.corpus
        return Configuration(
            "fuzz", __version__, self.target.name, self.seed, inputs, {"work": self.total}
        )

    @property
    def plan(self) -> Plan:
        """The work in units (`lab.cases.work`), a shard for each fuzzer."""
        return Plan(self.configuration.digest, self.total, self.unit)

    @property
    def job(self) -> FuzzJob:
        """What workers do."""
        inputs = self.configuration.inputs
        return FuzzJob(self.target, self.seed, self.stored, self.limit, inputs)


def timed_search(
    target: Target, seed: str, seconds: float, jobs: int, corpus: Path | None, patience: float = 1
) -> FuzzSearch:
    """A fuzzer for each job, which works about so long; on a slow machine a clock stops it after
    `patience` times as long. Raises `UsageError` for a bad corpus."""
    stored, digest = _stored(target, corpus)
    work = max(1, round(seconds * SECOND))
    return FuzzSearch(target, seed, stored, work * jobs, work, patience * seconds, digest)


def sized_search(target: Target, seed: str, work: int, corpus: Path | None) -> FuzzSearch:
    """Fuzzers that do so much work together, however long it takes. Raises `UsageError` for a bad
    corpus."""
    stored, digest = _stored(target, corpus)
    wanted = min(max(work // FUZZERS, LEAST_WORK), MOST_WORK)
    return FuzzSearch(target, seed, stored, work, -(-work // -(-work // wanted)), None, digest)


def _stored(target: Target, corpus: Path | None) -> tuple[tuple[Probe, ...], str]:
    """The cases of a corpus, and a digest of them."""
    target.check_playable()
    stored = tuple(read_probes(target, corpus)) if corpus else ()
    for name in target.traceable:
        target.tracer(name)  # raises `UsageError` for a program that cannot be traced
    if not stored:
        return (), ""
    cases = [(one.site.validator, one.site.natural, one.case.arguments) for one in stored]
    return stored, sha256(msgspec.json.encode(cases)).hexdigest()


def fuzz(
    target: Target,
    *,
    seconds: float,
    seed: str,
    jobs: int,
    corpus: Path | None = None,
    findings: Path | None = None,
    patience: float = 1.0,
    on_status: Callable[[CampaignStatus], None] = lambda status: None,
) -> FuzzReport:
    """Fuzz a target for about this many seconds. Ctrl-C ends it early, with the findings so far.

    On a slow machine the clock stops it after `patience` times as long. Stored findings are tried
    first. Raises `UsageError` for a bad corpus or finding.
    """
    search = timed_search(target, seed, seconds, jobs, corpus, patience)
    return run_search(
        search, jobs, processes(jobs, inline=True), findings=findings, on_status=on_status
    )


def run_search(
    search: FuzzSearch,
    jobs: int,
    workers: Workers,
    *,
    journal: Journal[FuzzPart] | None = None,
    findings: Path | None = None,
    on_found: Callable[[Sequence[Finding]], object] = lambda found: None,
    on_status: Callable[[CampaignStatus], None] = lambda status: None,
) -> FuzzReport:
    """Fuzz, after the stored findings in a folder were tried again.

    `on_found` gets the findings so far, grouped, when there are new ones.
    """
    target = search.target
    report = FuzzReport(target, search.seed, jobs)
    again = _try_again(report, findings)
    counts = CampaignCounts(target, on_found)
    run = engine.run(search.job, search.plan, workers, journal, counts.add, on_status)
    report.seconds = run.seconds
    report.interrupted = run.interrupted
    with finishing():
        parts = list(in_order({**run.partial, **run.results}))
        report.earlier = sum(run.results[shard].runs for shard in run.earlier)
        report.shards, report.lost = search.plan.size, tuple(run.lost)
        digest = sha256(search.configuration.digest.encode())
        for part in parts:
            digest.update(sha256(msgspec.json.encode(part)).digest())
            report.runs += part.runs
            report.stopped |= part.stopped
            report.tally.merge(tally_of(part.tally))
            report.corpus += part.corpus
        report.stopped |= run.interrupted
        report.digest = None if report.stopped else digest.hexdigest()
        report.coverage = _coverage(target, parts)
        report.findings = grouped([*again, *(one for part in parts for one in part.findings)])
    return report


class CampaignCounts:
    """The counts of a campaign so far, and its findings as they come."""

    def __init__(self, target: Target, on_found: Callable[[Sequence[Finding]], object]) -> None:
        self._on_found = on_found
        self._runs = 0
        self._found: list[Finding] = []
        self._listed = 0
        self._covered = {name: Coverage() for name in target.traceable}

    def add(self, _: Shard, part: FuzzPart) -> Counts:
        """Count a part; return the counts of all."""
        self._runs += part.runs
        for name, covered in self._covered.items():
            covered.add(coverage_of(part, name))
        if part.findings:
            self._found += part.findings
            listed = grouped(self._found)
            self._listed = len(listed)
            self._on_found(listed)
        return {
            "runs": self._runs,
            "nodes": sum(len(one.nodes) for one in self._covered.values()),
            "branches": sum(len(one.branches) for one in self._covered.values()),
            "findings": self._listed,
        }


@dataclass(frozen=True)
class FuzzJob:
    """A fuzzer for each seed; `limit` is the most seconds that one may take, `inputs` are those
    of the configuration."""

    target: Target
    seed: str
    stored: tuple[Probe, ...]
    limit: float | None
    inputs: Mapping[str, str]

    returns_early = True

    def worker(self) -> ShardWork:
        """Get ready to fuzz."""
        check_inputs(self.target, self.inputs)
        return self._fuzz

    def decode(self, data: bytes) -> FuzzPart:
        """The result in the JSON of a shard."""
        return decode_part(data)

    def _fuzz(self, shard: Shard) -> bytes:
        fuzzer = Fuzzer(self.target, self.seed, shard.first, self.stored)
        last = start = perf_counter()

        def stop() -> bool:
            late = self.limit is not None and perf_counter() - start > self.limit
            return late or parent().wants_stop()

        for progress in fuzzer.run(shard.budget, stop):
            if perf_counter() - last > OFTEN:
                last = perf_counter()
                counts = {
                    "runs": progress.runs,
                    "nodes": progress.nodes,
                    "branches": progress.branches,
                    "findings": progress.findings,
                }
                parent().send(ShardProgress(min(int(fuzzer.work), shard.budget), counts))
        return msgspec.json.encode(fuzz_part(self.target, fuzzer.result()))


def counts_so_far(status: CampaignStatus) -> dict[str, int]:
    """The counts of what is done and under way: runs added up, of the others the greatest."""
    every = [status.counts, *status.live]
    found = {"runs": sum(one.get("runs", 0) for one in every)}
    for name in ("nodes", "branches", "findings"):
        found[name] = max(one.get(name, 0) for one in every)
    return found


def _try_again(report: FuzzReport, folder: Path | None) -> list[Finding]:
    """The stored findings that still happen; the others are noted in the report."""
    again = []
    for path, one in stored_findings(folder) if folder else ():
        if isinstance(one, UsageError):
            report.untried.append((path, str(one).removeprefix(f"{path}: ")))
            continue
        if one.target != report.target.name:
            continue
        try:
            broken = still_broken(report.target, msgspec.to_builtins(one))
        except UsageError as error:
            report.untried.append((path, str(error)))
            continue
        if broken:
            again.append(one)
        else:
            report.mended.append(path)
    return again


def _coverage(target: Target, parts: Iterable[FuzzPart]) -> dict[str, CoverageCounts]:
    covered = {name: Coverage() for name in target.traceable}
    for part in parts:
        for name, one in covered.items():
            one.add(coverage_of(part, name))
    return {name: one.counts(target.tracer(name)) for name, one in covered.items()}


# --- the corpus -------------------------------------------------------------------------------


def save(report: FuzzReport, folder: Path) -> int:
    """Add the cases to a corpus folder that reach new code, and return their number.

    Nothing that is there is changed. Raises `UsageError`.
    """
    target = report.target
    added = 0
    known = read_probes(target, folder)
    for name in target.present:
        tracer, covered = target.tracer(name), Coverage()
        for probe in known:
            if probe.site.validator == name:
                covered.add(tracer.reach(probe.case.arguments))
        lines = []
        for one in report.corpus:
            if one.validator != name or name in report.tally.runaway:
                continue
            if covered.add(tracer.reach(one.arguments)) and one.case is not None:
                lines.append(msgspec.json.encode(one.case))
        added += len(lines)
        if lines:
            append_lines(folder / f"{name}.jsonl", lines)
    return added
