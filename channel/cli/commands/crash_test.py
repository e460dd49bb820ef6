"""`channelsim crash-test`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from channelsim.channel.cli.campaigns import all_done
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.options import InText, Json, Mix, NoProgress, Seed, json_wanted, whole
from channelsim.channel.documents.results import lost_work
from channelsim.channel.findings.finding import BROKEN_PROMISE, THEFT, Finding, summary
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.simulation.crashes import MOST_IDLE, CrashedRun, CrashTotals, run_crashes
from channelsim.channel.simulation.killed_peer import AIMS, Stage
from channelsim.channel.simulation.sweep_findings import MONEY
from channelsim.channel.system.file_kinds import DOCUMENT
from channelsim.channel.system.interrupt import exit_code, finishing
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
    as_json = json_wanted(json, text)
    with progress("crashes", "kill", shown=not quiet) as bar:
        totals = run_crashes(
            kills,
            seed,
            jobs,
            processes=processes,
            mixed=mix,
            on_status=lambda status: bar(status.work, status.total),
            on_failure=lambda run: bar.say("\n".join((_title(run), *_details(run)))),
        )
    with finishing():
        if as_json:
            print_json(crash_document(totals))
        else:
            _show(totals)
        every = all_done("crashes", totals.lost, "kill")
        if totals.idle:
            complain(
                f"stopped after {counted(totals.kills, 'kill')} of {kills}: {MOST_IDLE} runs in a"
                " row had none"
            )
            every = False
        every &= totals.interrupted or _in_each_stage(totals, per_stage)
    return exit_code(totals.interrupted, failed=bool(totals.failed) or not every)


def _in_each_stage(totals: CrashTotals, least: int) -> bool:
    """True if each stage has so many kills. Complains otherwise."""
    few = [f"{totals.stages[one]} in {_words(one)}" for one in AIMS if totals.stages[one] < least]
    if few:
        complain(f"fewer than {counted(least, 'kill')}: {', '.join(few)}; try more --kills")
    return not few


def _words(stage: Stage) -> str:
    return stage.value.replace("_", " ")


def crash_document(totals: CrashTotals) -> dict[str, Any]:
    """The totals as JSON data."""
    return {
        "format": f"{DOCUMENT}crash-test 1",
        "kills": totals.kills,
        "node_kills": totals.node_kills,
        "stages": {stage.value: totals.stages[stage] for stage in Stage},
        "sessions": totals.sessions,
        "contradictions": totals.contradictions,
        "broken_promises": totals.broken_promises,
        "interrupted": totals.interrupted,
        "lost": lost_work(totals.lost),
        "summary": summary(crash_findings(totals)),
        "findings": [asdict(run) for run in totals.failed],
    }


def _show(totals: CrashTotals) -> None:
    terminal = console()
    for run in totals.failed:
        say(terminal, _title(run), "red")
        for line in _details(run):
            say(terminal, line)
    stages = ", ".join(f"{totals.stages[stage]:,} in {_words(stage)}" for stage in AIMS)
    rest = totals.stages[Stage.REST]
    say(terminal, f"kills of peers by stage: {stages}, {rest:,} elsewhere in play")
    kills = counted(totals.kills, "kill", ",")
    if totals.node_kills:
        kills += f" ({totals.node_kills:,} of the node)"
    sessions = f"{kills} in {counted(totals.sessions, 'session', ',')}"
    count = summary(crash_findings(totals))
    say(terminal, f"{sessions}{'; interrupted' * totals.interrupted}; {count}")


def crash_findings(totals: CrashTotals) -> list[Finding]:
    """Everything that went wrong."""
    return [
        Finding(
            rule=rule,
            place=_title(run),
            severity=THEFT if text.startswith(f"{MONEY}: ") else BROKEN_PROMISE,
            text=text,
        )
        for run in totals.failed
        for rule, texts in (
            ("no contradictory signature", run.contradictions),
            ("promises", run.broken),
        )
        for text in texts
    ]


def _title(run: CrashedRun) -> str:
    scenario = run.scenario
    who = f"{scenario.adversary}@{scenario.step}" if scenario.adversary else "honest play"
    mix = ", mixed blocks" if scenario.mixed else ""
    return f"{who}, seed {scenario.seed}, {scenario.weather}{mix}:"


def _details(run: CrashedRun) -> list[str]:
    return [f"    {line}" for line in (*run.contradictions, *run.broken)]
