"""Conformance: everything that a game owes, as checks with one result each, and as a campaign.

A check is a function of a `Subject`; `channelsim.channel.kit.checks` has them all, in order. The
checks run one after the other in the process of the command, and the folder of the campaign has
their results. Those that search are campaigns themselves, with folders of their own inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.campaign import (
    Campaign,
    OpenPlace,
    Place,
    Report,
    Work,
    here,
)
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.job import ShardResult, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, describe_lost
from channelsim.channel.documents.conform import CheckResult, mistakes
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.findings.finding import FAILED_CHECK, Finding
from channelsim.channel.kit.disputes import disputes_of
from channelsim.channel.lab.cases.corpus import CaseRuns, StoredCase, read, site_cases
from channelsim.channel.lab.costs import snapshot
from channelsim.channel.lab.crosscheck.crosscheck import CrosscheckReport, crosscheck_of
from channelsim.channel.lab.fuzz.fuzz import FuzzReport, timed_search
from channelsim.channel.lab.mutants.broken_rules import broken_rules
from channelsim.channel.lab.mutants.enforcement import Enforcement, enforcement
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import target_inputs
from channelsim.channel.prove import proof_file
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.sweep_campaign import SweepReport
from channelsim.channel.system import input_files

INTERRUPTED = "interrupted"
"""The reason given for the checks that an interrupt left out."""

PATIENCE = 10.0
"""The factor by which a slow machine may take longer to fuzz, so that it does the same work."""

ENFORCING = 2.0
"""The work of finding out whether every rule is enforced, for each second of a fuzzer's."""

LEAST = 3.0
"""The least work of it, in seconds: less would blame tests that a short search does not reach."""

HUNT = "enforced"
"""The folder of that hunt."""

FEW = 3
"""Seeds without a result that a check names."""


class LostWork(UsageError):
    """Some work of a check crashed its worker."""


AnyReport = TypeVar("AnyReport", bound=Report)


def failed_check(check: str, text: str, place: str = "", source_line: str = "") -> Finding:
    """A finding of a check that is not about a law or a dispute."""
    return Finding(
        rule=check, place=place, severity=FAILED_CHECK, text=text, source_line=source_line
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The amount of work, and the figures to compare with.

    `cases` are those of vectors, laws and costs; `seconds` those of each of the `fuzzers`,
    `disputes` the deviations that are tried of each adversary. `corpus` is a folder of cases that
    the fuzzers start from; `costs` a file by `channelsim cost --write`. At least `coverage` percent
    of each validator's branches are to be reached. `proofs` is a file by `channelsim prove`.
    `jobs` decides on no result.
    """

    cases: int = 5000
    seconds: float = 10.0
    fuzzers: int = 1
    disputes: int = 1
    coverage: int = 100
    corpus: Path | None = None
    costs: Path | None = None
    proofs: Path | None = None
    seed: str = "conform"
    jobs: int = 1


@dataclass
class Subject:
    """A target under test, with what several checks need, made when the first of them needs it.

    `open_place` opens the place of a check's campaign; by default that is `effort.jobs` processes.
    Raises `UsageError` for stored costs, a corpus or proofs that cannot be read.
    """

    target: Target
    effort: Effort = field(default_factory=Effort)
    open_place: OpenPlace | None = None

    def __post_init__(self) -> None:
        """Read the files that checks are to use, to refuse a bad one before the work."""
        if self.effort.costs:
            snapshot.read(self.effort.costs)
        if self.effort.corpus:
            site_cases(self.target, self.effort.corpus)
        if self.effort.proofs:
            proof_file.read(self.effort.proofs)

    @property
    def own_game(self) -> bool:
        """True if the target is an installed game: sessions and disputes play its programs."""
        return self.target.rules is not None and self.target.rules == self.target.source

    @property
    def crosschecked(self) -> CrosscheckReport:
        """Every law on generated cases. Raises `LostWork`."""
        return self._whole(self._crosscheck, "case")

    @cached_property
    def _crosscheck(self) -> CrosscheckReport:
        effort = self.effort
        return self._run("crosscheck", crosscheck_of(self.target, effort.cases, effort.seed))

    @property
    def fuzzed(self) -> FuzzReport:
        """A run of the fuzzer. Raises `LostWork`."""
        return self._whole(self._fuzz, "unit")

    @cached_property
    def _fuzz(self) -> FuzzReport:
        effort = self.effort
        search = timed_search(
            self.target, effort.seed, effort.seconds, effort.fuzzers, effort.corpus, PATIENCE
        )
        return self._run("fuzz", search)

    @property
    def disputed(self) -> SweepTotals:
        """Disputes against every adversary. Raises `LostWork`."""
        return self._whole(self._dispute, "adversary").totals

    @cached_property
    def _dispute(self) -> SweepReport:
        effort = self.effort
        return self._run("disputes", disputes_of(self.target, effort.disputes, effort.seed))

    @property
    def enforced(self) -> Enforcement:
        """The tests of rules in the programs, dropped one at a time. Raises `LostWork`."""
        done = self._enforce
        if done.interrupted:
            raise KeyboardInterrupt
        for unit, shards in done.lost.items():
            lost = "; ".join(describe_lost(shards[:FEW], unit))
            raise LostWork(f"{self.target.name}: {lost}")
        return done

    @cached_property
    def _enforce(self) -> Enforcement:
        """They meet the stored cases first, then those that searches made."""
        target, effort = self.target, self.effort
        samples = self.crosschecked.tally.samples
        stored = (*self.stored, *self.recorded)
        known = [
            *((case.program, case.arguments) for case in stored if case.differs is None),
            *((case.validator, case.arguments) for case in self.fuzzed.corpus),
            *(
                (name, arguments)
                for name, ends in samples.items()
                for runs in ends.values()
                for _, arguments in runs
            ),
        ]

        def open_place(work: Work, folder: str) -> AbstractContextManager[Place]:
            """The place of one of the campaigns of the hunt."""
            if self.open_place is None:
                return nullcontext(here(work))
            return self.open_place(work, f"{HUNT}-{folder}" if folder else HUNT)

        seconds = max(LEAST, ENFORCING * effort.seconds)
        return enforcement(target, known, effort.seed, seconds, open_place, self.cut_off)

    @cached_property
    def cut_off(self) -> frozenset[str]:
        """The programs of which a run used up the cost of a block. Raises `LostWork`."""
        return frozenset(self.crosschecked.tally.runaway | self.fuzzed.tally.runaway)

    @cached_property
    def case_runs(self) -> CaseRuns:
        """The runs of all stored cases, in which a program is cut off once."""
        return CaseRuns(self.target)

    @cached_property
    def stored(self) -> tuple[StoredCase, ...]:
        """The cases of the corpus, as they were run."""
        folder = self.effort.corpus
        return () if folder is None else tuple(read(self.target, folder, self.case_runs))

    @cached_property
    def recorded(self) -> tuple[StoredCase, ...]:
        """The cases of honest play, as they were run."""
        target = self.target
        honest = (case for case in target.honest if case.validator not in target.missing)
        return tuple(map(self.case_runs.stored, honest))

    @cached_property
    def broken_rules(self) -> set[str]:
        """The rules that decided a case of the searches, or a stored one. Raises `LostWork`."""
        tallies = (self.crosschecked.tally, self.fuzzed.tally)
        return broken_rules(self.target, tallies, (*self.stored, *self.recorded))

    def _run(self, name: str, campaign: Campaign[Any, AnyReport]) -> AnyReport:
        """Run a campaign at its place. Raises `KeyboardInterrupt`, also for its results so far."""
        opened = (
            nullcontext(here(campaign, self.effort.jobs))
            if self.open_place is None
            else self.open_place(campaign, name)
        )
        with opened as place:
            report = campaign.run(place)
            if not report.interrupted:
                place.files.write_last(report.findings)
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    def _whole(self, report: AnyReport, unit: str) -> AnyReport:
        if report.lost:
            lost = "; ".join(describe_lost(report.lost[:FEW], unit))
            raise LostWork(f"{self.target.name}: {lost}")
        return report


Check: TypeAlias = Callable[[Subject], CheckResult]


def conform(
    subject: Subject,
    checks: Mapping[str, Check],
    on_check: Callable[[str], None] = lambda name: None,
) -> Iterator[CheckResult]:
    """Run the checks in order. After an interrupt the rest are not checked.

    A check fails of which some work crashed its worker; no directory stores that.

    `on_check` is called with the name of each check before it begins.
    """
    interrupted = False
    for name, check in checks.items():
        try:
            if not interrupted:
                on_check(name)
                yield check(subject)
                continue
        except LostWork as error:
            yield CheckResult(name, failures=(failed_check(name, str(error)),))
            continue
        except KeyboardInterrupt:
            interrupted = True
        yield CheckResult(name, unchecked=INTERRUPTED)


# --- as a campaign -----------------------------------------------------------------------------


def conform_configuration(target: Target, effort: Effort) -> Configuration:
    """The inputs of the checks' results. Raises `UsageError` for a file that is gone."""
    inputs = target_inputs(target)
    if effort.corpus is not None:
        inputs["corpus"] = _digest(sorted(effort.corpus.glob("*.jsonl")))
    if effort.costs is not None:
        inputs["costs"] = _digest([effort.costs])
    if effort.proofs is not None:
        inputs["proofs"] = _digest([effort.proofs])
    options = {
        "cases": effort.cases,
        "seconds": effort.seconds,
        "fuzzers": effort.fuzzers,
        "disputes": effort.disputes,
        "coverage": effort.coverage,
    }
    return Configuration("conform", __version__, target.name, effort.seed, inputs, options)


@dataclass(frozen=True)
class ConformanceWork:
    """The work of a conformance: so many checks."""

    configuration: Configuration
    checks: int

    unit, units = "check", "checks"

    @property
    def plan(self) -> Plan:
        """A shard for each check."""
        return Plan(self.configuration.digest, self.checks, unit=1)


def resumed(
    checks: Mapping[str, Check], plan: Plan, directory: CampaignDirectory[CheckResult]
) -> dict[str, Check]:
    """The checks; each has its result from the directory, or stores it there once it is made."""
    progress = _Progress(directory, plan, directory.stored(_StoredChecks()))
    return {
        name: progress.check(check, shard)
        for (name, check), shard in zip(checks.items(), plan.shards(), strict=True)
    }


def conform_digest(configuration: Configuration, results: Sequence[CheckResult]) -> str:
    """The SHA-256 of configuration and results."""
    fields = [
        {
            "check": result.check,
            "tried": result.tried,
            "failures": result.failures,
            "unchecked": result.unchecked,
        }
        for result in results
    ]
    return sha256(configuration.digest.encode() + msgspec.json.encode(fields)).hexdigest()


class _StoredChecks:
    """Reads the stored results of checks, which run in the process of the command alone."""

    returns_early = False

    def worker(self) -> ShardWork:
        """No worker makes a check."""
        raise InvariantError("a check is not a shard for a worker")

    def decode(self, data: bytes) -> CheckResult:
        """The result of a check."""
        return msgspec.json.decode(data, type=CheckResult)


@dataclass
class _Progress:
    """The results so far, and where they are stored."""

    directory: CampaignDirectory[CheckResult]
    plan: Plan
    results: dict[Shard, CheckResult]

    def __post_init__(self) -> None:
        self._begun, self._start = len(self.results), perf_counter()

    def check(self, check: Check, shard: Shard) -> Check:
        """A check that takes its result from the directory, or stores it there."""

        def stored(subject: Subject) -> CheckResult:
            """Make the check, unless its result is stored."""
            if shard not in self.results:
                start = perf_counter()
                result = check(subject)
                data = msgspec.json.encode(result)
                self.directory.record(shard, ShardResult(data, perf_counter() - start))
                self.results[shard] = result
                self.directory.note(self._status())
            return self.results[shard]

        return stored

    def _status(self) -> CampaignStatus:
        failures = len(mistakes(self.results.values()))
        done = len(self.results)
        seconds = perf_counter() - self._start
        total = self.plan.total
        return CampaignStatus(
            done, total, done, total, self._begun, seconds, {"findings": failures}
        )


def _digest(paths: Sequence[Path]) -> str:
    contents = sha256()
    for path in paths:
        data = input_files.read(path, input_files.LINES)
        contents.update(f"{path.name}\0{sha256(data).hexdigest()}\n".encode())
    return contents.hexdigest()
