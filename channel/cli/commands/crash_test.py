"""`channelsim crash-test`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from channelsim.channel.cli.campaigns import CampaignOptions, Ending, run_campaign
from channelsim.channel.cli.check_reports import NO_REPORTS, CheckReport, ReportFiles, by_rule
from channelsim.channel.cli.options import InText, Json, Mix, NoProgress, Seed, json_wanted, whole
from channelsim.channel.documents.crashes import CrashesDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.findings.finding import summary
from channelsim.channel.report.terminal import console, say
from channelsim.channel.simulation.crashes import (
    CONTRADICTIONS,
    MOST_IDLE,
    PROMISES,
    CrashTotals,
    crashes,
)
from channelsim.channel.simulation.killed_peer import AIMS, Stage
from channelsim.games.amounts import counted

MOST_KILLS = 1_000_000


def command(
    kills: Annotated[int, whole(1, MOST_KILLS, "How often peers are killed.")] = 200,
    seed: Seed = "crashes",
    jobs: Annotated[int, whole(1, 256, "How many processes.")] = 1,
    processes: Annotated[
        bool,
        typer.Option(
            "--processes", help="Kill real processes, including the node; all have files on disk."
        ),
    ] = False,
    mix: Mix = False,
    per_stage: Annotated[
        int, whole(0, MOST_KILLS, "Fail if there are fewer kills in a stage.")
    ] = 0,
    json: Json = False,
    text: InText = False,
    reports: ReportFiles = NO_REPORTS,
    quiet: NoProgress = False,
) -> int:
    """Kill peers in sessions and disputes, restart them from their stores, and check every promise.

    A peer is stopped before an event is stored, or between two of its effects. With --processes
    it and the node are processes of their own, killed by SIGKILL at random instants. Kills are
    aimed at the stages of a session in turn: opening, deck step, batch, shutdown and dispute. Each
    failure is printed on stderr soon after it is found, and all of them at the end. Exit code 1: a
    peer contradicted what it had signed, a promise was broken, or a stage has too few kills.

    Example: channelsim crash-test --kills 1000 --jobs 2
    """
    options = CampaignOptions(jobs=jobs, json=json_wanted(json, text), quiet=quiet, reports=reports)
    return run_campaign(
        crashes(kills, seed, processes=processes, mixed=mix),
        options,
        "crashes",
        lambda totals: Ending(
            name="crashes",
            document=lambda: crash_document(totals, seed),
            show=lambda _: _show(totals),
            report=lambda _: _check_report(totals),
            untried=lambda: "; ".join(_untried(totals, kills, per_stage)),
        ),
    )


def _untried(totals: CrashTotals, kills: int, least: int) -> Iterator[str]:
    """The kills that were not tried, also of single stages."""
    if totals.idle:
        yield (
            f"stopped after {counted(totals.kills, 'kill')} of {kills}: {MOST_IDLE} runs in a row"
            " had none"
        )
    few = [
        f"{totals.stages[stage]} in {_words(stage)}"
        for stage in AIMS
        if totals.stages[stage] < least
    ]
    if few:
        yield f"fewer than {counted(least, 'kill')}: {', '.join(few)}; try more --kills"


def _check_report(totals: CrashTotals) -> CheckReport:
    """A check of signatures, and one of all promises."""
    return CheckReport(
        command="crash-test",
        target="crashes",
        source="",
        checks=by_rule((CONTRADICTIONS, PROMISES), totals.findings),
        summary=summary(totals.findings),
    )


def _words(stage: Stage) -> str:
    return stage.value.replace("_", " ")


def crash_document(totals: CrashTotals, seed: str) -> CrashesDocument:
    """The document of the totals."""
    return CrashesDocument(
        target=None,
        interrupted=totals.interrupted,
        seed=seed,
        digest=None,
        kills=totals.kills,
        node_kills=totals.node_kills,
        stages={stage.value: totals.stages[stage] for stage in Stage},
        sessions=totals.sessions,
        contradictions=sum(len(run.contradictions) for run in totals.failed),
        broken_promises=sum(len(run.broken) for run in totals.failed),
        lost=lost_work(totals.lost),
        failed=tuple(totals.failed),
        findings=tuple(totals.findings),
    )


def _show(totals: CrashTotals) -> None:
    terminal = console()
    for run in totals.failed:
        say(terminal, f"{run.title}:", "red")
        for line in run.details:
            say(terminal, line)
    stages = ", ".join(f"{totals.stages[stage]:,} in {_words(stage)}" for stage in AIMS)
    rest = totals.stages[Stage.REST]
    say(terminal, f"kills of peers by stage: {stages}, {rest:,} elsewhere in play")
    kills = counted(totals.kills, "kill")
    if totals.node_kills:
        kills += f" ({totals.node_kills:,} of the node)"
    sessions = f"{kills} in {counted(totals.sessions, 'session')}"
    count = summary(totals.findings)
    say(terminal, f"{sessions}{'; interrupted' * totals.interrupted}; {count}")
