"""The work of `channelsim attack`."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path

from channelsim.channel.attack.campaign import (
    NOT_CONFIRMED,
    AttackReport,
    adversaries,
    attacks,
    default_games,
)
from channelsim.channel.attack.goals import GOALS
from channelsim.channel.attack.kinds import KINDS, kinds_of
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.campaign.directory import FINDINGS, is_campaign
from channelsim.channel.cli.campaigns import Ending, run_campaign
from channelsim.channel.cli.check_reports import CheckReport, by_rule
from channelsim.channel.cli.commands.attack import AttackOptions
from channelsim.channel.cli.options import processes, refuse
from channelsim.channel.crypto.keyed_hash import MODE, WARNING
from channelsim.channel.documents.attack import REAL, AttackDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.setup import check_game
from channelsim.channel.system.output import check_folder
from channelsim.games.amounts import counted

RUNS = 100
"""The sessions of a campaign, unless the user names a number."""

ENOUGH, ENOUGH_FOR_GOALS = 500, 3000
"""Sessions after which a kind of action, or a goal, that was never reached is a failure."""

MOST_RATE = 1000
"""More sessions than a process runs in a second."""


def attack(options: AttackOptions) -> int:
    """Search for faults that break a promise in whole sessions between two players."""
    chosen = tuple(dict.fromkeys(options.games or default_games()))
    for name in chosen:
        check_game(name, 100, 10)
    kinds = tuple(KINDS) if options.faults is None else kinds_of(options.faults)
    out, folder, runs = options.campaign.out, None, options.runs or RUNS
    if options.seconds is not None:
        refuse("--seconds says how long instead", runs=options.runs)
        refuse("is for a campaign of --runs", resume=options.campaign.resume)
        out, folder = None, _folder(options.campaign.out)
        runs = ceil(options.seconds * MOST_RATE * processes(options.campaign.jobs))
    return run_campaign(
        attacks(runs, options.seed, chosen, kinds, options.seconds, folder, fast=options.fast),
        replace(options.campaign, out=out),
        f"sessions ({MODE})" if options.fast else "sessions",
        lambda report: Ending(
            name="attack",
            document=lambda: attack_document(
                report, options.seed, chosen, kinds, fast=options.fast
            ),
            show=lambda document: _show(document, report),
            store=lambda document: FindingFiles(folder).write_last(report.findings),
            report=_check_report,
            untried=lambda: _untried(report, kinds),
        ),
        clock=options.seconds,
    )


def _folder(out: Path | None) -> Path | None:
    """The folder of the findings of a search for some time."""
    if out is not None and is_campaign(out):
        raise UsageError(
            f"--out {out}: the folder of a campaign, whose findings are in {out / FINDINGS};"
            " name that, or another one"
        )
    if out is not None:
        check_folder("--out", out)
    return out


def attack_document(
    report: AttackReport,
    seed: str,
    games: tuple[str, ...],
    kinds: tuple[str, ...] = tuple(KINDS),
    *,
    fast: bool = False,
) -> AttackDocument:
    """The results of a campaign as a document."""
    totals = report.totals
    return AttackDocument(
        target=", ".join(games),
        seed=seed,
        interrupted=report.interrupted,
        stopped=report.stopped,
        lost=lost_work(report.lost),
        digest=report.digest,
        signatures=WARNING if fast else REAL,
        not_confirmed=totals.counts[NOT_CONFIRMED],
        sessions=totals.counts["sessions"],
        attacked=totals.counts["attacked"],
        funded=totals.counts["funded"],
        restarts=totals.counts["restarts"],
        blocks=totals.counts["blocks"],
        faults=kinds,
        situations=report.situations,
        scripts=report.scripts,
        phases={phase.value: totals.phases[phase.name] for phase in Phase},
        actions={kind: totals.actions[kind] for kind in KINDS},
        goals={goal.id: totals.goals[goal.id] for goal in GOALS},
        deviated={name: totals.deviated[name] for name in adversaries(games)},
        answered=dict(sorted(totals.answered.items())),
        broken_promises=len(totals.broken),
        mended=tuple(map(str, report.tried_again.mended)),
        findings=tuple(report.findings),
    )


def _untried(report: AttackReport, kinds: tuple[str, ...]) -> str:
    """The kinds of actions and the goals that a campaign should have reached, and did not.

    One with some kinds only reaches what these lead to.
    """
    totals = report.totals
    sessions = totals.counts["sessions"]
    if sessions < ENOUGH:
        return ""
    goals = GOALS if sessions >= ENOUGH_FOR_GOALS and {*kinds} == {*KINDS} else ()
    missed = [
        *(kind for kind in kinds if not totals.actions[kind]),
        *(goal.id for goal in goals if not totals.goals[goal.id]),
    ]
    return f"never: {', '.join(missed)}; try more --runs" if missed else ""


def _check_report(document: AttackDocument) -> CheckReport:
    """A check for each monitor."""
    return CheckReport(
        command="attack",
        target=f"{document.target} ({document.signatures})" * (document.signatures != REAL)
        or document.target
        or "",
        source="",
        checks=by_rule(tuple(MONITORS), document.findings),
        summary=document.summary,
    )


def _show(document: AttackDocument, report: AttackReport) -> None:
    terminal = console()
    for path in report.tried_again.mended:
        say(terminal, f"{path}: no longer happens")
    for path, why in report.tried_again.untried:
        say(terminal, f"{path}: cannot be tried: {why}")
    for finding in document.findings:
        say(terminal, finding.line, "red")
    say(terminal, f"took place: {_figures(document.actions) or 'nothing'}")
    say(terminal, f"sessions by goal: {_figures(document.goals) or 'none of the goals'}")
    missed = [goal for goal, count in document.goals.items() if not count]
    if missed:
        say(terminal, f"no session reached: {', '.join(missed)}", "yellow")
    say(terminal, f"sessions by phase: {_figures(document.phases) or 'none'}")
    deviated = sum(map(bool, document.deviated.values()))
    say(
        terminal,
        f"deviated: {deviated} of {counted(len(document.deviated), 'adversary')}; answered by the"
        f" rule that it broke: {counted(len(document.answered), 'rule')}",
    )
    if document.signatures != REAL:
        say(
            terminal,
            f"{document.signatures}; {counted(document.not_confirmed, 'broken script')}"
            " not confirmed with real signatures",
        )
    actions = sum(document.actions.values()) / max(1, document.sessions)
    say(
        terminal,
        f"{counted(document.sessions, 'session')}, {document.attacked:,} of them attacked and"
        f" {document.funded:,} funded, actions for each: {actions:.1f},"
        f" {counted(document.restarts, 'restart')},"
        f" {counted(document.situations, 'situation')} by {counted(document.scripts, 'script')}"
        f"{'; interrupted' * document.interrupted}; {document.summary}",
    )


def _figures(counts: dict[str, int]) -> str:
    """What was counted at all, in order."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
