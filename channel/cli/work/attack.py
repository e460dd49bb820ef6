"""The work of `channelsim attack`."""

from __future__ import annotations

from channelsim.channel.attack.actions import KINDS
from channelsim.channel.attack.campaign import (
    GOALS,
    NOT_CONFIRMED,
    AttackReport,
    adversaries,
    attacks,
    default_games,
)
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.cli.campaigns import Ending, run_campaign
from channelsim.channel.cli.check_reports import CheckReport, by_rule
from channelsim.channel.cli.commands.attack import AttackOptions
from channelsim.channel.crypto.keyed_hash import MODE, WARNING
from channelsim.channel.documents.attack import REAL, AttackDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.setup import check_game
from channelsim.games.amounts import counted

ENOUGH = 500
"""Sessions after which a kind of action or a goal that was never reached is a failure."""


def attack(options: AttackOptions) -> int:
    """Search for faults that break a promise in whole sessions between two players."""
    chosen = tuple(dict.fromkeys(options.games or default_games()))
    for name in chosen:
        check_game(name, 100, 10)
    return run_campaign(
        attacks(options.runs, options.seed, chosen, fast=options.fast),
        options.campaign,
        f"sessions ({MODE})" if options.fast else "sessions",
        lambda report: Ending(
            name="attack",
            document=lambda: attack_document(report, options.seed, chosen, fast=options.fast),
            show=_show,
            report=_check_report,
            untried=lambda: _untried(report),
        ),
    )


def attack_document(
    report: AttackReport, seed: str, games: tuple[str, ...], *, fast: bool = False
) -> AttackDocument:
    """The results of a campaign as a document."""
    totals = report.totals
    return AttackDocument(
        target=", ".join(games),
        seed=seed,
        interrupted=report.interrupted,
        lost=lost_work(report.lost),
        digest=report.digest,
        signatures=WARNING if fast else REAL,
        not_confirmed=totals.counts[NOT_CONFIRMED],
        sessions=totals.counts["sessions"],
        attacked=totals.counts["attacked"],
        funded=totals.counts["funded"],
        restarts=totals.counts["restarts"],
        blocks=totals.counts["blocks"],
        actions={kind: totals.actions[kind] for kind in KINDS},
        goals={goal: totals.goals[goal] for goal in GOALS},
        deviated={name: totals.deviated[name] for name in adversaries(games)},
        answered=dict(sorted(totals.answered.items())),
        broken_promises=len(totals.broken),
        findings=tuple(report.findings),
    )


def _untried(report: AttackReport) -> str:
    """The kinds of actions and the goals that a campaign should have reached, and did not."""
    totals = report.totals
    if totals.counts["sessions"] < ENOUGH:
        return ""
    missed = [
        *(kind for kind in KINDS if not totals.actions[kind]),
        *(goal for goal in GOALS if not totals.goals[goal]),
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


def _show(document: AttackDocument) -> None:
    terminal = console()
    for finding in document.findings:
        say(terminal, finding.line, "red")
    actions = ", ".join(f"{count:,} {kind}" for kind, count in document.actions.items() if count)
    say(terminal, f"took place: {actions or 'nothing'}")
    goals = ", ".join(f"{goal} {count:,}" for goal, count in document.goals.items() if count)
    say(terminal, f"sessions: {goals or 'none of the goals'}")
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
    say(
        terminal,
        f"{counted(document.sessions, 'session')}, {document.attacked:,} of them attacked and"
        f" {document.funded:,} funded, {counted(document.restarts, 'restart')}"
        f"{'; interrupted' * document.interrupted}; {document.summary}",
    )
