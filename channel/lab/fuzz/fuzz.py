"""Fuzzing a target: a campaign whose seeds are fuzzers that share nothing, in one report.

The same seed, work and corpus give the same findings, for any number of workers; with a time
instead of the work, if every fuzzer completes its work in time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.campaign import Place, ResultCounter, run_shards
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.job import Counts, Reporter, ShardWork, decoded
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import stored_findings
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.corpus import append_lines, site_cases
from channelsim.channel.lab.cases.runs import SECOND
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.fuzz.findings import STORED, still_broken, wrongly_stored
from channelsim.channel.lab.fuzz.fuzz_part import CorpusCase, FuzzPart
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.channel.lab.fuzz.grouping import grouped
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.channel.system.interrupt import finishing
from channelsim.clsp.analysis.tracer import Coverage, CoverageCounts
from channelsim.clsp.run import remembered
from channelsim.plugins import WrongAnswer

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
    `stopped`. `earlier` are the runs of validators that earlier runs of the command did. `failed`:
    how the author's functions failed after something was found, which ended a search.
    """

    target: Target
    seed: str
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
    failed: str = ""

    @property
    def rate(self) -> float:
        """The runs of validators in a second, in this run of the command."""
        return (self.runs - self.earlier) / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class FuzzSearch:
    """The campaign: a fuzzer for `each` so much work, with the cases of a corpus to start from.

    `limit` is the most seconds that one may take, None for as long as its work takes. `findings` is
    a folder of stored ones, which are tried first. `wrong` are the cases of the corpus that do not
    end as they expect.
    """

    target: Target
    configuration: Configuration
    stored: tuple[SiteCase, ...]
    each: int
    limit: float | None = None
    findings: Path | None = None
    wrong: tuple[Finding, ...] = ()

    returns_early = True
    unit, units = "unit", "units of work"

    @property
    def plan(self) -> Plan:
        """The work in units (`lab.cases.runs`), a shard for each fuzzer."""
        return Plan(self.configuration.digest, self.configuration.options["work"], self.each)

    def worker(self) -> ShardWork:
        """Get ready to fuzz."""
        check_inputs(self.target, self.configuration.inputs)
        return self._fuzz

    def decode(self, data: bytes) -> FuzzPart:
        """The result in the JSON of a shard."""
        return decoded(data, FuzzPart)

    def _fuzz(self, shard: Shard) -> bytes:
        fuzzer = Fuzzer(self.target, self.configuration.seed, shard.first, self.stored)
        start, stops, stopped, failed = perf_counter(), Reporter(), False, ""
        with remembered():
            try:
                for _ in fuzzer.run(shard.budget):
                    late = self.limit is not None and perf_counter() - start > self.limit
                    stopped = stops(int(fuzzer.work), lambda: fuzzer.counts) or late
                    if stopped:
                        break
            except WrongAnswer as error:
                if not fuzzer.counts["findings"]:
                    raise
                # Most likely in a state that a wrong program makes: its findings must not be lost.
                stopped, failed = True, str(error)
            return fuzzer.part(stopped, failed).json()

    def run(self, place: Place) -> FuzzReport:
        """Fuzz, after the stored findings were tried again."""
        report = FuzzReport(self.target, self.configuration.seed)
        unmended = _try_again(report, self.findings)

        def on_status(status: CampaignStatus) -> None:
            """Add the counts of what is under way to a status."""
            counts = counts_so_far(status)
            place.on_status(msgspec.structs.replace(status, counts=counts))

        run = run_shards(self, replace(place, on_status=on_status), counter(self.target))
        report.seconds, report.interrupted = run.seconds, run.interrupted
        with finishing():
            parts = list(in_order({**run.partial, **run.results}))
            report.earlier = sum(run.results[shard].runs for shard in run.earlier)
            report.shards, report.lost = self.plan.size, tuple(run.lost)
            covered = {name: Coverage() for name in self.target.traceable}
            digest = sha256(self.configuration.digest.encode())
            for part in parts:
                digest.update(sha256(part.json()).digest())
                report.runs += part.runs
                report.stopped |= part.stopped
                report.failed = report.failed or part.failed
                report.tally.merge(part.tally)
                report.corpus += part.corpus
                _cover(covered, part)
            report.stopped |= run.interrupted
            report.digest = None if report.stopped else digest.hexdigest()
            report.coverage = {
                name: coverage.counts(self.target.tracer(name))
                for name, coverage in covered.items()
            }
            findings = [finding for part in parts for finding in part.findings]
            report.findings = grouped([*self.wrong, *unmended, *findings])
        return report


def counter(target: Target) -> ResultCounter[FuzzPart]:
    """Counts the runs, the code that was reached, and the findings, grouped."""
    runs = 0
    findings: list[Finding] = []
    listed: list[Finding] = []
    covered = {name: Coverage() for name in target.traceable}

    def count(part: FuzzPart) -> tuple[Counts, Iterable[Finding]]:
        """Add a part."""
        nonlocal runs, findings, listed
        runs += part.runs
        _cover(covered, part)
        if part.findings:
            findings += part.findings
            listed = grouped(findings)
        counts = {
            "runs": runs,
            "nodes": sum(len(coverage.nodes) for coverage in covered.values()),
            "branches": sum(len(coverage.branches) for coverage in covered.values()),
            "findings": len(listed),
        }
        return counts, listed

    return count


def _cover(covered: dict[str, Coverage], part: FuzzPart) -> None:
    """Add what a part covers of each program."""
    for name, coverage in covered.items():
        coverage.add(part.coverage.get(name, Coverage()))


def timed_search(
    target: Target, seed: str, seconds: float, jobs: int, corpus: Path | None, patience: float = 1
) -> FuzzSearch:
    """A fuzzer for each job, which works about so long; on a slow machine a clock stops it after
    `patience` times as long. Raises `UsageError` for a bad corpus."""
    work = max(1, round(seconds * SECOND))
    return _search(target, seed, work * jobs, work, patience * seconds, corpus)


def sized_search(target: Target, seed: str, work: int, corpus: Path | None) -> FuzzSearch:
    """Fuzzers that do so much work together, however long it takes. Raises `UsageError` for a bad
    corpus."""
    each = min(max(work // FUZZERS, LEAST_WORK), MOST_WORK)
    return _search(target, seed, work, -(-work // -(-work // each)), None, corpus)


def _search(
    target: Target, seed: str, work: int, each: int, limit: float | None, corpus: Path | None
) -> FuzzSearch:
    target.check_playable()
    stored = tuple(site_cases(target, corpus)) if corpus else ()
    for name in target.traceable:
        target.tracer(name)  # raises `UsageError` for a program that cannot be traced
    inputs = target_inputs(target)
    if stored:
        cases = [(case.site.validator, case.site.natural, case.arguments) for case in stored]
        inputs["corpus"] = sha256(msgspec.json.encode(cases)).hexdigest()
    options = {"work": work}
    configuration = Configuration("fuzz", __version__, target.name, seed, inputs, options)
    wrong = tuple(wrongly_stored(target, corpus)) if corpus else ()
    return FuzzSearch(target, configuration, stored, each, limit, wrong=wrong)


def counts_so_far(status: CampaignStatus) -> dict[str, int]:
    """The counts of what is done and under way: runs added up, of the others the greatest."""
    shares = [status.counts, *status.live]
    counts = {"runs": sum(share.get("runs", 0) for share in shares)}
    for name in ("nodes", "branches", "findings"):
        counts[name] = max(share.get(name, 0) for share in shares)
    return counts


def _try_again(report: FuzzReport, folder: Path | None) -> list[Finding]:
    """The stored findings that still happen; the others are noted in the report."""
    unmended = []
    for path, finding in stored_findings(folder) if folder else ():
        if isinstance(finding, UsageError):
            report.untried.append((path, str(finding).removeprefix(f"{path}: ")))
            continue
        # A stored case is tried from its corpus, where its author may have mended it.
        if finding.target != report.target.name or finding.rule == STORED:
            continue
        try:
            broken = still_broken(report.target, msgspec.to_builtins(finding))
        except UsageError as error:
            report.untried.append((path, str(error)))
            continue
        if broken:
            unmended.append(finding)
        else:
            report.mended.append(path)
    return unmended


# --- the corpus -------------------------------------------------------------------------------


def save(report: FuzzReport, folder: Path, *, write: bool = True) -> int:
    """Add the cases to a corpus folder that reach new code, and return their number.

    Nothing that is there is changed; without `write`, they are only counted. Raises `UsageError`.
    """
    target = report.target
    added = 0
    known = site_cases(target, folder)
    for name in target.present:
        tracer, covered = target.tracer(name), Coverage()
        for case in known:
            if case.site.validator == name:
                covered.add(tracer.reach(case.arguments))
        lines = []
        for new in report.corpus:
            if new.validator != name or name in report.tally.runaway:
                continue
            if covered.add(tracer.reach(new.arguments)) and new.case is not None:
                lines.append(msgspec.json.encode(new.case))
        added += len(lines)
        if lines and write:
            append_lines(folder / f"{name}.jsonl", lines)
    return added
