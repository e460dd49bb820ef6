"""The work of `channelsim explore`."""

from __future__ import annotations

from channelsim.channel.cli.campaigns import Ending, run_campaign
from channelsim.channel.cli.check_reports import CheckReport, by_rule
from channelsim.channel.cli.commands.explore import ExploreOptions
from channelsim.channel.crypto.keyed_hash import MODE, WARNING
from channelsim.channel.documents.explore import ExploreDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.exploration import (
    BOUNDS,
    SYMMETRIES,
    ExploreReport,
    explorations,
)
from channelsim.channel.explore.signed_play import STACK, UNIT
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.setup import check_game
from channelsim.games.amounts import counted
from channelsim.games.names import DEFAULT

USUAL = ((DEFAULT,), (DEFAULT, DEFAULT))
"""The games that are explored unless others are named: one, and two at once."""

SEARCHES = "searches"
"""The folder of the searches under way, in that of a campaign."""

PROMISES = (
    *("money", "law", "safety", "duty", "liveness", "wishes", "limits", "secrecy", "news", "hands"),
    *("chain", "restart", "signature", "settled", "exception"),
)
"""What is checked: the promises of the specification, and what two honest peers never do."""


def explore(options: ExploreOptions) -> int:
    """Visit every state of real peers on a small chain, within small bounds."""
    menus = tuple(tuple(menu.split("+")) for menu in dict.fromkeys(options.games or ())) or USUAL
    for name in dict.fromkeys(name for menu in menus for name in menu):
        if check_game(name, UNIT, STACK).deck_positions:
            raise UsageError(f"explore: {name} needs a deck, which takes seconds in each state")
    out = options.campaign.out
    # Workers of a cluster may have other disks.
    folder = None if out is None or options.campaign.cluster else out.resolve() / SEARCHES
    return run_campaign(
        explorations(menus, options.seed, options.states, options.seconds, folder),
        options.campaign,
        f"searches ({MODE})",
        lambda report: Ending(
            name="explore",
            document=lambda: explore_document(report, options.seed),
            show=_show,
            report=_check_report,
        ),
    )


def explore_document(report: ExploreReport, seed: str) -> ExploreDocument:
    """The results of a campaign as a document."""
    totals = report.totals
    counts = totals.counts
    return ExploreDocument(
        target=report.configuration.target,
        seed=seed,
        interrupted=report.interrupted,
        lost=lost_work(report.lost),
        digest=report.digest,
        signatures=WARNING,
        searches=counts["searches"],
        whole=counts["whole"],
        states=counts["states"],
        steps=counts["steps"],
        merged=counts["merged"],
        ends=counts["ends"],
        frontier=counts["frontier"],
        longest=totals.longest,
        choices=dict(sorted(totals.kinds.items())),
        bounds=dict(BOUNDS),
        symmetries=SYMMETRIES,
        broken_promises=len(totals.broken),
        not_confirmed=counts["not confirmed"],
        findings=tuple(report.findings),
    )


def _check_report(document: ExploreDocument) -> CheckReport:
    """A check for each promise."""
    return CheckReport(
        command="explore",
        target=f"{document.target} ({document.signatures})",
        source="",
        checks=by_rule(PROMISES, document.findings),
        summary=document.summary,
    )


def _show(document: ExploreDocument) -> None:
    terminal = console()
    for finding in document.findings:
        say(terminal, finding.line, "red")
    bounds = ", ".join(f"{name}: {most}" for name, most in document.bounds.items())
    say(terminal, f"bounds: {bounds}")
    say(terminal, f"symmetries: {'; '.join(document.symmetries)}")
    say(
        terminal,
        f"{document.signatures}; {counted(document.not_confirmed, 'broken path')} not confirmed"
        " with real signatures",
    )
    say(
        terminal,
        f"{counted(document.states, 'state')}, {document.steps:,} choices,"
        f" {document.merged:,} of them to known states; {counted(document.ends, 'end')},"
        f" the longest path has {document.longest:,} choices",
    )
    part = (
        "all of them whole"
        if document.whole == document.searches
        else (
            f"only {document.whole:,} of them whole: this is a part, with a frontier of"
            f" {counted(document.frontier, 'state')}"
        )
    )
    searches = f"{document.searches:,} {'search' if document.searches == 1 else 'searches'}"
    say(
        terminal,
        f"{searches}, {part}{'; interrupted' * document.interrupted}; {document.summary}",
    )
