"""Commands that run campaigns: their options, where shards run, and what all do at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.campaign import AnyReport, Campaign, Place, Work, here
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.shards import Configuration, Plan, describe_lost
from channelsim.channel.cli.check_reports import CheckReport, WriteReport, report_files
from channelsim.channel.cli.messages import complain, resuming_command
from channelsim.channel.cli.option_groups import NO_REPORTS, CampaignOptions
from channelsim.channel.cli.options import processes as jobs_of
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.report.progress import StatusLine, campaign_progress
from channelsim.channel.report.terminal import print_json
from channelsim.channel.system.interrupt import exit_code, finishing

D = TypeVar("D")

Progress = Callable[[str, str], AbstractContextManager[StatusLine]]
"""Shows the progress of a campaign, by its folder inside that of the command and its unit."""


class Places:
    """The places of a command's campaigns. Their directories stay open until it ends.

    Use it as a context manager; called, it opens a place. Of several campaigns, all but one have a
    folder of their own inside that of the command, and those that are there are resumed. `progress`
    shows how far they are, by default with a `text` beside it.
    """

    def __init__(
        self, options: CampaignOptions, text: str = "", clock: float | None = None
    ) -> None:
        self._options, self._stack = options, ExitStack()
        self.progress: Progress = lambda _, unit: campaign_progress(
            text, unit, quiet=options.quiet, clock=clock
        )
        self.directories: list[CampaignDirectory[Any]] = []
        self._write_report: WriteReport = lambda report: None

    def __enter__(self) -> Places:
        self._write_report = self._stack.enter_context(report_files(self._options.reports))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def directory(self, work: Work, folder: str = "") -> CampaignDirectory[Any] | None:
        """Open the directory of a campaign; None without `--out`. Raises `UsageError`."""
        out, resume = self._options.out, self._options.resume
        path = None if out is None else out / folder
        if folder:
            resume = path is not None and directory.is_campaign(path)
        opened = self._stack.enter_context(campaign_directory(path, work, resume=resume))
        if opened is not None and not folder:
            self.directories.append(opened)
        return opened

    @contextmanager
    def __call__(self, work: Work, folder: str = "") -> Iterator[Place]:
        """Open the place of a campaign, and show its progress."""
        stored = self.directory(work, folder)
        workers = partial(self._workers, work.plan, stored=stored is not None)
        files = FindingFiles(None if stored is None else stored.findings)
        with self.progress(folder, work.unit) as line:
            yield Place(workers, stored, line, line.say, files)

    def _workers(self, plan: Plan, *, stored: bool) -> Workers:
        return chosen_workers(
            jobs_of(self._options.jobs), plan, self._options.cluster, stored=stored
        )

    def end(
        self,
        ending: Ending[D],
        *,
        interrupted: bool,
        failed: bool,
        lost: Sequence[str] = (),
    ) -> int:
        """Store and print the document, and say on stderr what was not done; the exit code.

        `lost` describes the work that crashed its workers. What is found is printed even where it
        cannot be stored. Raises `UsageError`.
        """
        with finishing():
            document, trouble = ending.document(), None
            untried = "" if interrupted else ending.untried()
            left = [untried, *lost]
            if interrupted:
                left.insert(0, f"interrupted: not everything was tried{self._resuming()}")
            try:
                ending.store(document)
                for stored in [] if interrupted else self.directories:
                    stored.write_summary(document)
                if ending.report is not None and self._options.reports != NO_REPORTS:
                    report = ending.report(document)
                    self._write_report(replace(report, incomplete="; ".join(filter(None, left))))
            except UsageError as error:
                trouble = error
            if self._options.json:
                print_json(document)
            else:
                ending.show(document)
            if trouble is not None:
                raise trouble
            if interrupted and self.directories:
                complain(f"{ending.name}: interrupted{self._resuming()}")
            for line in filter(None, (untried, *lost)):
                complain(f"{ending.name}: {line}")
        return exit_code(interrupted, failed=failed or bool(lost or untried))

    def _resuming(self) -> str:
        """The command that does the rest, behind a semicolon; "" if nothing is stored."""
        return f"; `{resuming_command()}` does the rest" if self.directories else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending(Generic[D]):
    """The end of a command's campaigns; `name` begins its lines on stderr.

    `store` stores what does not belong to the directory's summary. `report` is what `--junit` and
    `--sarif` write. `untried` names what should have been tried and was not, with what to do.
    """

    name: str
    document: Callable[[], D]
    show: Callable[[D], None]
    store: Callable[[D], object] = lambda document: None
    report: Callable[[D], CheckReport] | None = None
    untried: Callable[[], str] = lambda: ""


def run_campaign(
    campaign: Campaign[Any, AnyReport],
    options: CampaignOptions,
    text: str,
    ending: Callable[[AnyReport], Ending[D]],
    clock: float | None = None,
) -> int:
    """Run a campaign at the place that the options name.

    Its progress is shown beside a `text`; `clock` is its planned duration in seconds. Returns the
    exit code: 1 for findings, lost work, or something that was never tried.
    """
    with Places(options, text, clock) as places:
        with places(campaign) as place:
            report = campaign.run(place)

        def store(document: D) -> None:
            """Store the findings, and what the command stores."""
            place.files.write_last(report.findings)
            last.store(document)

        last = ending(report)
        return places.end(
            replace(last, store=store),
            interrupted=report.interrupted,
            failed=bool(report.findings),
            lost=describe_lost(report.lost, campaign.unit),
        )


def run_watched(
    campaign: Campaign[Any, AnyReport],
    jobs: int,
    text: str,
    check: Callable[[], None],
    clock: float | None = None,
) -> AnyReport:
    """Run a campaign as a round of `--watch`: `check` is called now and then."""
    with campaign_progress(text, campaign.unit, clock=clock) as line:

        def on_status(status: CampaignStatus) -> None:
            """Look at the files, and show a status."""
            check()
            line(status)

        return campaign.run(replace(here(campaign, jobs), on_status=on_status))


@contextmanager
def campaign_directory(
    path: Path | None, work: Work, *, resume: bool
) -> Iterator[CampaignDirectory[Any] | None]:
    """The directory that `--out` names, open; None without one. Raises `UsageError`."""
    opening = (
        nullcontext()
        if path is None
        else directory.opened(path, work.configuration, work.plan, work.units, resume=resume)
    )
    with opening as opened:
        yield opened
        if opened is not None:
            for line in opened.complaints:
                complain(line)


def check_directory(
    path: Path | None, configuration: Configuration, unit: str, *, resume: bool
) -> None:
    """Refuse a wrong `--out` or `--resume` before a plan is made. Raises `UsageError`."""
    if path is not None and directory.is_campaign(path):
        plan = directory.read_campaign(path).plan
        with directory.opened(path, configuration, plan, unit, resume=resume):
            return
    if resume:
        raise UsageError(f"--resume: no campaign is in {path}")


def chosen_workers(jobs: int, plan: Plan, cluster: str | None, *, stored: bool) -> Workers:
    """The workers of a campaign: a cluster, or processes. Raises `UsageError`.

    One job without a directory needs no process of its own.
    """
    if cluster is not None:
        from channelsim.channel.campaign.dask_cluster import DaskCluster

        workers = DaskCluster(cluster)
        if workers.is_empty:
            complain(f"--cluster {cluster}: no workers are there yet; waiting for them")
        return workers
    return processes(min(jobs, plan.size), inline=not stored)
