"""The work of `channelsim crash-test`."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.attack.crashed_run import SIGNATURE
from channelsim.channel.attack.crashes import MOST_IDLE, CrashTotals, crashes
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.cli.campaigns import Ending, run_campaign
from channelsim.channel.cli.check_reports import CheckReport, by_rule
from channelsim.channel.cli.commands.crash_test import CrashTestOptions
from channelsim.channel.cli.option_groups import CampaignOptions
from channelsim.channel.documents.crashes import CrashesDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.findings.finding import summary
from channelsim.channel.report.terminal import console, say
from channelsim.channel.simulation.kills import AIMS, Stage
from channelsim.channel.simulation.promises.checker import CHECKS
from channelsim.games.amounts import counted


def crash_test(options: CrashTestOptions) -> int:
    """Kill peers in sessions and disputes, restart them, and check every promise."""
    campaign = CampaignOptions(
        jobs=options.jobs,
        json=options.form.as_json,
        quiet=options.quiet,
        reports=options.reports,
    )
    return run_campaign(
        crashes(options.kills, options.seed, processes=options.processes, mixed=options.mix),
        campaign,
        "crashes",
        lambda totals: Ending(
            name="crashes",
            document=lambda: crash_document(totals, options.seed),
            show=lambda _: _show(totals),
            report=lambda _: _check_report(totals, processes=options.processes),
            untried=lambda: "; ".join(_untried(totals, options.kills, options.per_stage)),
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


def _check_report(totals: CrashTotals, *, processes: bool) -> CheckReport:
    """A check for each monitor; of processes, one of signatures and one for each promise."""
    promises = (name for name, _ in CHECKS)
    return CheckReport(
        command="crash-test",
        target="",
        source="",
        checks=by_rule((SIGNATURE, *promises) if processes else tuple(MONITORS), totals.findings),
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
