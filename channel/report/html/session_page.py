"""Make the page of a session or a dispute from what its log collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.peer_text.news_text import BLAME, LEAVES
from channelsim.channel.report.html.coin_graph import BOX_HEIGHT, BOX_WIDTH, MARGIN, coin_graph
from channelsim.channel.report.html.money_log import HEIGHT, WIDTH, areas
from channelsim.channel.report.html.page import Glance, grouped, render
from channelsim.channel.report.html.session_data import (
    LANES,
    PageCoin,
    PageEvent,
    PagePromise,
    SessionPage,
)
from channelsim.channel.report.html.session_log import SessionLog
from channelsim.channel.report.html.session_story import (
    dispute_story,
    games_text,
    loss_text,
    money_of,
    put_in,
    session_story,
    why_lost,
)
from channelsim.channel.session.result import Result
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run, RunResult, result_of
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.scenario_command import command_of
from channelsim.games.amounts import amount_text, counted

PROMISES = {
    "money": ("no mojo is lost", "every coin from the channel coin on made coins of its amount"),
    "law": (
        "legal messages are accepted, and illegal ones are not",
        "a second model of the protocol judged every message",
    ),
    "signatures": (
        "no signature contradicts one that the other side has",
        "all signed states were compared by number",
    ),
    "safety": (
        "the newest state counts, and pays at least what it owes",
        "the payouts on chain were compared with the newest state that was received or sent",
    ),
    "duty": (
        "what is due on chain is done with every block",
        "each block's preemptions, timeouts, claims and slashes were computed again",
    ),
    "liveness": ("the channel settles in time", "its blocks were counted against its timeouts"),
    "wishes": (
        "what the player asks for happens in time",
        "the blocks from each act and from a wish to close on were counted",
    ),
    "limits": (
        "the channel grows no larger than its own limits",
        "its states and what was stored of them were counted",
    ),
    "secrecy": (
        "nothing secret is disclosed before its time",
        "all messages and spends were searched for keys, seeds and later values",
    ),
    "crash safety": (
        "what was signed or accepted is stored first",
        "the order of stores, messages and spends was checked",
    ),
    "news": ("the player's news are true", "all news were compared with the chain"),
}
"""What the honest player is promised, and how each promise is checked after a run."""

ENDS = {
    RunResult.NO_CHANNEL: "no channel was opened",
    RunResult.CLOSED: "both closed the channel together",
    RunResult.SLASHED: "the illegal move was slashed",
    RunResult.PREEMPTED: "the old state was replaced by the newest one",
    RunResult.PLAYED: "the game was played on to its end on chain",
    RunResult.PAID: "the money was paid out on chain",
}
"""What became of a dispute in which every promise is kept."""


def session_log(setup: Setup, viewer: str | None = None) -> SessionLog:
    """A log for the session of this setup; a `viewer` sees no cards that the other side hides."""
    return SessionLog((0, 1), (setup.balance, setup.balance), setup.unroll_timeout, viewer)


def dispute_log(scenario: Scenario) -> SessionLog:
    """A log for a dispute, which shows the news of the honest side, or of both if both are."""
    sides = (scenario.honest,) if scenario.adversary else (scenario.honest, scenario.side)
    balances = (scenario.balance, scenario.balance)
    return SessionLog(sides, balances, scenario.unroll_timeout, follow_hands=True)


def session_page(
    setup: Setup, log: SessionLog, chain: FarmableChain, result: Result, digest: str
) -> SessionPage:
    """The page of a finished session."""
    checks = result.checks
    good = checks.python_clvm_agree and checks.conserved
    judged = checks.moves_checked + checks.moves_by_rules
    put = (setup.balance, setup.balance)
    played = counted(len(result.hands), "hand")
    title = games_text([name for name, _ in result.hands] or setup.games)
    return page_of_log(
        log,
        chain,
        title=f"{title}: {played} between Initiator and Receiver",
        glance=Glance(
            good,
            f"{played}, {counted(judged, 'move')}: "
            + ("rules and programs agree, money is conserved" if good else "a check failed"),
            loss_text(result.balances, put, setup.unit, "in play, by the rules"),
            "nothing to do"
            if good
            else "see below which check failed; a transcript (`--transcript FILE`) can be replayed",
        ),
        facts=(
            ("games", setup.rotation or ", ".join(setup.games)),
            ("seed", setup.seed),
            ("policies", ", ".join(setup.policies)),
            ("contributions", grouped(f"{amount_text(setup.balance, setup.unit)} each")),
            ("confirmations", counted(setup.confirmations, "block")),
            ("unroll timeout", counted(setup.unroll_timeout, "block")),
            ("game timeout", counted(setup.game_timeout, "block")),
            ("digest", digest),
        ),
        lanes=LANES,
        story=tuple(session_story(setup, result, log.hands)),
        promises=(
            PagePromise(
                "verdicts",
                "rules and programs agree on every move",
                f"{counted(checks.moves_checked, 'move')} judged by both"
                + (f", {checks.moves_by_rules} by the rules alone" * bool(checks.moves_by_rules)),
                result.disagreements,
            ),
            PagePromise(
                "money",
                "no mojo is lost",
                "the reward coins and the wallets were added up on chain",
                () if checks.conserved else ("the chain does not hold all the money",),
            ),
        ),
    )


def dispute_page(
    run: Run,
    broken: Sequence[BrokenPromise],
    digest: str,
    log: SessionLog,
    promises: Mapping[str, tuple[str, str]] = PROMISES,
) -> SessionPage:
    """The page of a dispute, with its promises: each with how it is checked."""
    log.finish()
    scenario = run.scenario
    honest, other = LANES[scenario.honest], LANES[scenario.side]
    lanes = list(LANES)
    if scenario.adversary:
        lanes[scenario.side] += f" ({scenario.adversary})"
    names = [name for name in promises if name != "signatures"]
    how = {
        name: tuple(promise.how for promise in broken if promise.promise == name)
        for name in promises
    }
    step = [("step", str(scenario.step))] if scenario.adversary else []
    if broken:
        verdict = f"{counted(len(broken), 'promise')} to {honest} broken"
        then = "see below which promise is broken, and try the dispute again after a change"
    elif scenario.adversary and not run.deviated:
        verdict = f"{other} found nothing to change: nothing was checked"
        then = "choose another step, at which it can deviate"
    else:
        verdict = f"every promise to {honest} is kept: {ENDS[result_of(run)]}"
        then = "nothing to do"
    got = money_of(run)
    loss = loss_text(got, put_in(run, got), scenario.terms.unit, why_lost(run, broken))
    command = tuple(filter(None, (command_of(scenario),)))
    whom = f"Initiator against {other}" if scenario.side else f"{other} against Receiver"
    as_whom = f" as {scenario.adversary}" if scenario.adversary else ""
    good = not broken and (run.deviated or not scenario.adversary)
    return page_of_log(
        log,
        run.chain,
        title=f"Dispute over {games_text(scenario.games)}: {whom}{as_whom}",
        glance=Glance(
            good, verdict, loss, f"{then}; this runs it again:" if command else then, command
        ),
        facts=(
            ("games", ", ".join(scenario.games)),
            ("seed", scenario.seed),
            *step,
            ("weather", scenario.weather),
            ("contributions", f"{counted(scenario.balance, 'mojo')} each"),
            ("unroll timeout", counted(scenario.unroll_timeout, "block")),
            ("game timeout", counted(scenario.game_timeout, "block")),
            ("blocks", str(run.blocks)),
            ("reorganisations", str(run.reorgs)),
            ("digest", digest),
        ),
        lanes=tuple(lanes),
        story=tuple(map(log.named, dispute_story(run, broken, got))),
        promises=tuple(PagePromise(name, *promises[name], how[name]) for name in names),
    )


def decisive(log: SessionLog) -> int:
    """The index of the event that a page opens at.

    It is the first at which a rule is broken, else at which play off chain ends without agreement,
    else the first of the last hand.
    """

    def breaks(event: PageEvent) -> bool:
        return any(verdict.breaks for verdict in event.verdicts)

    tests: tuple[Callable[[PageEvent], bool], ...] = (
        breaks,
        lambda event: event.kind == BLAME,
        lambda event: event.kind == LEAVES,
    )
    for test in tests:
        index = next((at for at, event in enumerate(log.events) if test(event)), None)
        if index is not None:
            return index
    last = log.hands[-1].event if log.hands else len(log.events) - 1
    return max(0, min(last, len(log.events) - 1))


def page_of_log(log: SessionLog, chain: FarmableChain, **own: Any) -> SessionPage:
    """The page of a log, with what it does not collect."""
    for deadline in log.deadlines.deadlines:
        deadline.what = log.named(deadline.what)
    coins: tuple[PageCoin, ...] = ()
    if log.channel is not None:
        coins = coin_graph(chain, log.channel, log.funding, log.labels, log.rewards)
    return SessionPage(
        events=tuple(log.events),
        decisive=decisive(log),
        left_out=log.left_out,
        balances=tuple(log.money.balances),
        deadlines=tuple(log.deadlines.deadlines),
        coins=coins,
        hands=tuple(log.hands),
        **own,
    )


def session_html(page: SessionPage) -> str:
    """The HTML of the page."""
    return render(
        "session",
        "session.js",
        {
            "events": page.events,
            "lanes": page.lanes,
            "decisive": page.decisive,
            "balances": page.balances,
            "width": WIDTH,
        },
        page=page,
        areas=areas(page.balances, len(page.events)),
        chart={
            "width": WIDTH,
            "height": HEIGHT,
            "box_width": BOX_WIDTH,
            "box_height": BOX_HEIGHT,
            "coins_width": max((coin.x for coin in page.coins), default=0) + BOX_WIDTH + 2 * MARGIN,
            "coins_height": max((coin.y for coin in page.coins), default=0) + BOX_HEIGHT + MARGIN,
        },
        last_height=page.events[-1].height if page.events else 0,
    )
