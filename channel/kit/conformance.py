"""Conformance: everything that a game owes, as checks with one result each.

A check is a function of a `Subject`; `channelsim.channel.kit.checks` has them all, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, describe_lost
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import FAILED_CHECK, Finding
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.kit.disputes import disputes, disputes_configuration, disputes_plan
from channelsim.channel.lab.cases.corpus import read_probes
from channelsim.channel.lab.costs import snapshot
from channelsim.channel.lab.crosscheck.crosscheck import (
    CrosscheckReport,
    configuration,
    crosscheck,
    findings,
    plan,
)
from channelsim.channel.lab.fuzz.fuzz import FuzzReport, run_search, timed_search
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.sweep_campaign import SweepReport

INTERRUPTED = "interrupted"
"""The reason given for the checks that an interrupt left out."""


PATIENCE = 10.0
"""The factor by which a slow machine may take longer to fuzz, so that it does the same work."""


FEW = 3
"""Seeds without a result that a check names."""


class LostWork(UsageError):
    """Some work of a check crashed its worker."""


@dataclass(frozen=True, slots=True)
class CampaignPlace:
    """Where the campaign of a check runs, where its results are stored, and who hears of it."""

    workers: Workers
    directory: CampaignDirectory[Any] | None = None
    on_status: Callable[[CampaignStatus], None] = lambda status: None

    @property
    def findings(self) -> Path | None:
        """The folder of findings; None without a directory."""
        return None if self.directory is None else self.directory.findings


OpenCampaign: TypeAlias = Callable[
    [str, Configuration, Plan, str], AbstractContextManager[CampaignPlace]
]
"""Opens a campaign, by its name, with its configuration, plan and unit of work in the singular."""


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
    of each validator's branches are to be reached. `jobs` decides on no result.
    """

    cases: int = 5000
    seconds: float = 10.0
    fuzzers: int = 1
    disputes: int = 1
    coverage: int = 100
    corpus: Path | None = None
    costs: Path | None = None
    seed: str = "conform"
    jobs: int = 1


@dataclass
class Subject:
    """A target under test, with what several checks need, made when the first of them needs it.

    `campaign` opens a campaign of a check; by default it runs in `effort.jobs` processes. Raises
    `UsageError` for stored costs or a corpus that cannot be read.
    """

    target: Target
    effort: Effort = field(default_factory=Effort)
    campaign: OpenCampaign | None = None

    def __post_init__(self) -> None:
        """Read the files that checks are to use, to refuse a bad one before the work."""
        if self.effort.costs:
            snapshot.read(self.effort.costs)
        if self.effort.corpus:
            read_probes(self.target, self.effort.corpus)

    @property
    def own_game(self) -> bool:
        """True if the target is an installed game: sessions and disputes play its programs."""
        return self.target.rules is not None and self.target.rules == self.target.source

    @property
    def crosschecked(self) -> CrosscheckReport:
        """Every law on generated cases. Raises `LostWork`."""
        _check_lost(self.target, self._crosscheck.lost, "case")
        return self._crosscheck

    @cached_property
    def _crosscheck(self) -> CrosscheckReport:
        effort = self.effort
        made = configuration(self.target, effort.cases, effort.seed)
        with self._opened("crosscheck", made, plan(made, effort.cases), "case") as place:
            files = FindingFiles(place.findings)
            report = crosscheck(
                self.target,
                effort.cases,
                effort.seed,
                workers=place.workers,
                journal=place.directory,
                on_result=lambda tally: files.write(findings(self.target, tally)),
                on_status=place.on_status,
            )
            if not report.interrupted:
                files.write_last(report.findings)
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    @property
    def fuzzed(self) -> FuzzReport:
        """A run of the fuzzer. Raises `LostWork`."""
        _check_lost(self.target, self._fuzz.lost, "unit")
        return self._fuzz

    @cached_property
    def _fuzz(self) -> FuzzReport:
        effort = self.effort
        search = timed_search(
            self.target, effort.seed, effort.seconds, effort.fuzzers, effort.corpus, PATIENCE
        )
        with self._opened("fuzz", search.configuration, search.plan, "unit") as place:
            files = FindingFiles(place.findings)
            report = run_search(
                search,
                effort.jobs,
                place.workers,
                journal=place.directory,
                on_found=files.write,
                on_status=place.on_status,
            )
            if not report.interrupted:
                files.write_last(report.findings)
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    @property
    def disputed(self) -> SweepTotals:
        """Disputes against every adversary. Raises `LostWork`."""
        _check_lost(self.target, self._dispute.lost, "adversary")
        return self._dispute.totals

    @cached_property
    def _dispute(self) -> SweepReport:
        effort = self.effort
        made = disputes_configuration(self.target, effort.disputes, effort.seed)
        cut = disputes_plan(made)
        with self._opened("disputes", made, cut, "adversary") as place:
            report = disputes(
                self.target,
                effort.disputes,
                effort.seed,
                place.workers,
                place.directory,
                place.on_status,
            )
        if report.totals.interrupted:
            raise KeyboardInterrupt
        return report

    def _opened(
        self, name: str, configuration: Configuration, plan: Plan, unit: str
    ) -> AbstractContextManager[CampaignPlace]:
        if self.campaign is not None:
            return self.campaign(name, configuration, plan, unit)
        return nullcontext(CampaignPlace(processes(min(self.effort.jobs, plan.size), inline=True)))


def _check_lost(target: Target, lost: Sequence[Shard], unit: str) -> None:
    if lost:
        raise LostWork(f"{target.name}: {'; '.join(describe_lost(lost[:FEW], unit))}")


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
