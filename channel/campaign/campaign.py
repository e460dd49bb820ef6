"""A whole campaign of a command: its job and plan, what it counts, and where it runs.

A command joins in three steps:

1. Write a `Campaign`: a frozen dataclass with what a worker needs (such as a target) as its fields.
   Its `worker` prepares whatever takes long and returns the function of one shard; that function's
   result is JSON, and depends on the campaign and the shard alone. `decode` reads it back.
   `configuration` decides on the results; `plan` cuts the work, in the campaign's own unit.
2. Fold `in_order` of the results of `run_shards` into a report: `Campaign.run`.
3. Call `run_campaign` in `cli/campaigns.py`: it finds the place that the options name, stores and
   prints the document, and returns the exit code.

In the function of a shard, a `Reporter` tells how far it is, and whether it should return early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from channelsim.channel.campaign import engine
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignRun, CampaignStatus
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.job import Counts, Job
from channelsim.channel.campaign.shards import Configuration, Plan, Shard
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import FindingFiles

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
AnyReport = TypeVar("AnyReport", bound="Report", covariant=True)

ResultCounter: TypeAlias = Callable[[R], tuple[Counts, Iterable[Finding]]]
"""Adds the next result; returns the counts of all so far, and what they have found."""


class Report(Protocol):
    """The results of a campaign, as far as all campaigns have the same."""

    @property
    def interrupted(self) -> bool:
        """True if not all work was done."""

    @property
    def lost(self) -> Sequence[Shard]:
        """The work that crashed its workers."""

    @property
    def findings(self) -> Sequence[Finding]:
        """Everything that was found."""


class Work(Protocol):
    """The inputs of a campaign's results, and its cut into shards."""

    @property
    def unit(self) -> str:
        """One of its work, such as `case`."""

    @property
    def units(self) -> str:
        """All its work."""

    @property
    def configuration(self) -> Configuration:
        """Everything that decides on the results."""

    @property
    def plan(self) -> Plan:
        """The shards."""


class Campaign(Work, Job[R_co], Protocol[R_co, AnyReport]):
    """The work of a campaign, and how its shards are done."""

    def run(self, place: Place) -> AnyReport:
        """Run it with `run_shards`; an interrupt ends it early, with the results so far."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a campaign runs, where its results are stored, and who hears of it.

    `workers` begins new ones. `say` prints a line above the progress. `files` are those of its
    findings, by default none.
    """

    workers: Callable[[], Workers]
    directory: CampaignDirectory[Any] | None = None
    on_status: Callable[[CampaignStatus], None] = lambda status: None
    say: Callable[[str], None] = lambda text: None
    files: FindingFiles = field(default_factory=lambda: FindingFiles(None))


OpenPlace: TypeAlias = Callable[[Work, str], AbstractContextManager[Place]]
"""Opens the place of a campaign, with the name of its folder inside that of the command."""


def here(work: Work, jobs: int = 1) -> Place:
    """At most so many processes of this machine, or this one; nothing is stored."""
    return Place(partial(processes, min(jobs, work.plan.size), inline=True))


def run_shards(
    campaign: Campaign[R, Report], place: Place, count: ResultCounter[R]
) -> CampaignRun[R]:
    """Do all shards of which the place has no results yet; findings are stored as they come."""

    def on_result(_: Shard, result: R) -> Counts:
        """Count a result, and store what is found so far."""
        counts, findings = count(result)
        place.files.write(findings)
        return counts

    return engine.run(
        campaign, campaign.plan, place.workers(), place.directory, on_result, place.on_status
    )
