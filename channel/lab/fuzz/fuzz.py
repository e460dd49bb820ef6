"""Fuzzing a target: campaigns in one process or several, merged into one report.

Campaigns share nothing, so the same seed, number of jobs and corpus give the same findings if
every campaign completes its work (see `channelsim.channel.lab.fuzz.campaign`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from multiprocessing.synchronize import Event
from pathlib import Path
from time import perf_counter

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.cases.work import SECOND
from channelsim.channel.lab.fuzz import seeds
from channelsim.channel.lab.fuzz.campaign import Campaign, CampaignProgress, CampaignResult
from channelsim.channel.lab.fuzz.findings import Document, still_broken, stored_findings
from channelsim.channel.lab.fuzz.grouping import grouped
from channelsim.channel.lab.sites.honest_play import legal_result
from channelsim.channel.lab.target.target import REFEREE, Target
from channelsim.channel.system.interrupt import finishing, polled
from channelsim.channel.system.output import write_whole
from channelsim.channel.system.workers import CONTEXT, Work, WorkerPool
from channelsim.clsp.analysis.tracer import Coverage, CoverageCounts
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games.contract import Raise, Slash, Verdict

OFTEN = 0.2
"""The seconds between two progress reports of a campaign."""


@dataclass
class FuzzReport:
    """The findings, counts and coverage of a fuzzing session.

    `stopped`: by the clock, or interrupted, before all work was done. `mended`: stored findings
    that no longer happen; `untried`: those that cannot be tried, and why.
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
    findings: list[Document] = field(default_factory=list)
    mended: list[Path] = field(default_factory=list)
    untried: list[tuple[Path, str]] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)


def fuzz(
    target: Target,
    *,
    seconds: float,
    seed: str,
    jobs: int,
    corpus: Path | None = None,
    findings: Path | None = None,
    patience: float = 1.0,
    on_progress: Callable[[Sequence[CampaignProgress]], None] = lambda progress: None,
) -> FuzzReport:
    """Fuzz a target for about this many seconds. Ctrl-C ends it early, with the findings so far.

    On a slow machine the clock stops it after `patience` times as long. Stored findings are tried
    first. Raises `UsageError` for a bad corpus or finding.
    """
    target.check_playable()
    stored = seeds.load(target, corpus) if corpus else []
    for name in target.traceable:
        target.tracer(name)  # raises `UsageError` for a program that cannot be traced
    report = FuzzReport(target, seed, jobs)
    again = _try_again(report, findings)
    states = [CampaignProgress(0, 0, 0, 0)] * jobs
    finished: dict[int, CampaignResult] = {}
    stop = threading.Event() if jobs == 1 else CONTEXT.Event()
    start = perf_counter()
    searcher = partial(_searcher, target, seed, seconds, patience, stored, stop)
    with polled() as interrupted, WorkerPool(searcher, jobs) as pool:
        for number, got in pool.run(range(jobs)):
            if interrupted():
                stop.set()
            if isinstance(got, CampaignResult):
                finished[number] = got
            else:
                states[number] = got
                on_progress(states)
        report.interrupted = interrupted()
    results = [finished[number] for number in range(jobs)]
    report.seconds = perf_counter() - start
    with finishing():
        for result in results:
            report.runs += result.runs
            report.stopped |= result.stopped
            report.tally.merge(result.tally)
            for probes in result.corpus.probes.values():
                report.probes += probes
        report.coverage = _coverage(target, results)
        report.findings = grouped([*again, *(one for result in results for one in result.found)])
    return report


def _try_again(report: FuzzReport, folder: Path | None) -> list[Document]:
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


def _coverage(target: Target, results: Sequence[CampaignResult]) -> dict[str, CoverageCounts]:
    found = {}
    for name in target.traceable:
        covered = Coverage()
        for result in results:
            covered.add(result.referee if name == REFEREE else result.corpus.coverage[name])
        found[name] = covered.counts(target.tracer(name))
    return found


def _searcher(
    target: Target,
    seed: str,
    seconds: float,
    patience: float,
    stored: Sequence[Probe],
    stop: threading.Event | Event,
) -> Work[int, CampaignProgress | CampaignResult]:
    """The work of one process: a campaign, by its number; now and then its progress."""

    def work(number: int) -> Iterator[CampaignProgress | CampaignResult]:
        campaign = Campaign(target, seed, number, stored)
        until = perf_counter() + patience * seconds
        last = 0.0
        for progress in campaign.run(
            seconds * SECOND, lambda: stop.is_set() or perf_counter() > until
        ):
            if perf_counter() - last > OFTEN:
                last = perf_counter()
                yield progress
        yield campaign.result()

    return work


# --- the corpus -------------------------------------------------------------------------------


def save(report: FuzzReport, folder: Path) -> int:
    """Add the probes to a corpus folder that reach new code, and return their number.

    Nothing that is there is changed. Raises `UsageError`.
    """
    target = report.target
    added = 0
    known = seeds.load(target, folder)
    for name in target.present:
        tracer, covered = target.tracer(name), Coverage()
        for probe in known:
            if probe.site.validator == name:
                covered.add(tracer.reach(probe.case.arguments))
        lines = []
        for probe in report.probes:
            if probe.site.validator != name or name in report.tally.runaway:
                continue
            if covered.add(tracer.reach(probe.case.arguments)):
                line = _line(target, probe)
                lines += [line] if line is not None else []
        added += len(lines)
        if lines:
            _append(folder / f"{name}.jsonl", lines)
    return added


def _append(path: Path, lines: Sequence[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    if before and not before.endswith(b"\n"):
        before += b"\n"
    write_whole("--corpus", path, before + b"".join(line + b"\n" for line in lines))


def _line(target: Target, probe: Probe) -> bytes | None:
    """A probe as a line of a corpus; None where the format cannot express it."""
    site, case = probe.site, probe.case
    tag = f"{seeds.PLAY if site.natural else seeds.STATE} {case.tag}"
    verdict = _verdict(target, probe)
    if verdict is None:
        return None
    made = vector(target, site, case.call, verdict, tag)
    short = sha256(case.arguments).hexdigest()[:10]
    named = msgspec.structs.replace(made, id=f"{made.game}-{site.validator}-{short}")
    return msgspec.json.encode(named)


def _verdict(target: Target, probe: Probe) -> Verdict | None:
    """The expected verdict: the rules', or, without rules, the program's own; None for a result
    that no case can express."""
    site, case = probe.site, probe.case
    if target.judge(site.validator) is not None:
        return site.rules_say(target, *case.call)
    program = target.programs[site.validator].serialized
    match run_serialized(program, case.arguments):
        case ProgramSlash():
            return Slash("")
        case ProgramValid() as outcome:
            return legal_result(target, outcome.value)
        case _:
            return Raise("")
