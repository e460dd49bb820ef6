"""The story of a session or a dispute in three to six sentences: who did what, how it was answered,
who got what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.adversaries.registry import get
from channelsim.channel.peer_text.news_text import end_of_play, end_on_chain
from channelsim.channel.report.html.hand_view import title_of
from channelsim.channel.report.html.page import grouped
from channelsim.channel.report.html.session_data import LANES, PageHand
from channelsim.channel.session.result import Result
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run, RunResult, result_of, valid_news
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games import registry
from channelsim.games.amounts import amount_text, counted

EACH_TOLD = 2
"""Hands that are told one by one; more are counted."""

Money = tuple[int, int]
"""Mojos of the initiator and of the receiver."""


def games_text(names: Sequence[str]) -> str:
    """The names of games for people, each once."""
    return _listed(list(dict.fromkeys(title_of(registry.get(name)) for name in names)))


def _listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> _listed(["parity"]), _listed(["parity", "ticks", "wordle"])
    ('parity', 'parity, ticks and wordle')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def result_text(got: Money, put: Money, unit: int) -> str:
    """A sentence on what both sides got, and how much more or less than they put in.

    >>> result_text((1200, 800), (1000, 1000), 100)
    'Initiator got 1,200 mojos, 2 units (200 mojos) more than it put in; Receiver got 800 mojos, \
2 units (200 mojos) less than it put in.'
    """
    parts = []
    for lane, mojos, staked in zip(LANES, got, put, strict=False):
        more = mojos - staked
        by = f"{amount_text(abs(more), unit)} {'more' if more > 0 else 'less'} than it put in"
        parts.append(f"{lane} got {counted(mojos, 'mojo')}, {by if more else 'what it put in'}")
    return grouped("; ".join(parts) + ".")


def loss_text(got: Money, put: Money, unit: int, why: str) -> str:
    """Who lost how much to whom, and why; or that nobody did.

    >>> loss_text((900, 1100), (1000, 1000), 100, "in play")
    'Initiator lost 1 unit (100 mojos) to Receiver, in play'
    """
    for lane, other, mojos, staked in zip(LANES, LANES[1::-1], got, put, strict=False):
        if mojos < staked:
            return grouped(f"{lane} lost {amount_text(staked - mojos, unit)} to {other}, {why}")
    return "nobody lost anything"


def session_story(setup: Setup, result: Result, hands: Sequence[PageHand]) -> Iterator[str]:
    """The sentences of a session."""
    names = [name for name, _ in result.hands] or list(setup.games)
    number = counted(len(result.hands), "hand") if result.hands else "no hand"
    begin = amount_text(setup.balance, setup.unit)
    yield grouped(
        f"Initiator and Receiver each put {begin} into a channel, and played {number} of"
        f" {games_text(names)}."
    )
    yield from _hands(hands, len(result.hands))
    checks = result.checks
    judged = checks.moves_checked + checks.moves_by_rules
    agree = "agreed on" if checks.python_clvm_agree else "did not agree on all of"
    lost = "no mojo was lost" if checks.conserved else "the chain does not hold all the money"
    yield grouped(f"Rules and programs {agree} the {counted(judged, 'move')}, and {lost}.")
    yield f"Then they closed the channel: {result.reason}."
    yield result_text(result.balances, (setup.balance, setup.balance), setup.unit)


def _hands(hands: Sequence[PageHand], of_all: int) -> Iterator[str]:
    """A sentence for each of a few hands; of many, who won how many."""
    if of_all <= EACH_TOLD:
        yield from map(_hand, hands)
        return
    won = [sum(hand.view.winner == lane for hand in hands) for lane in LANES[:2]]
    rest = len(hands) - sum(won)
    tied = f", and {counted(rest, 'hand')} had no winner" if rest else ""
    yield f"Initiator won {counted(won[0], 'hand')} and Receiver {won[1]}{tied}."
    yield f"At last, {_hand(hands[-1])}"


def _hand(hand: PageHand) -> str:
    """What one hand came to."""
    view = hand.view
    by = f" ({view.by})" if view.by else ""
    if not hand.payouts:
        return f"Hand {hand.number} was not finished."
    if view.winner:
        won = view.won or "nothing"
        return grouped(f"{view.winner} won {won} in hand {hand.number}{by}.")
    paid = " and ".join(f"{name} {counted(mojos, 'mojo')}" for name, mojos in hand.payouts)
    return grouped(f"Hand {hand.number} had no winner{by}: it paid {paid}.")


# --- disputes -----------------------------------------------------------------------------------


def dispute_story(run: Run, broken: Sequence[BrokenPromise], got: Money) -> Iterator[str]:
    """The sentences of a dispute, as its honest side saw it."""
    scenario = run.scenario
    us, them = LANES[scenario.honest], LANES[scenario.side]
    begin = amount_text(scenario.balance, scenario.terms.unit)
    put = put_in(run, got)
    did = "put" if any(put) else "were to put"
    yield grouped(
        f"Initiator and Receiver each {did} {begin} into a channel,"
        f" to play {games_text(scenario.games)}."
    )
    yield _deviation(scenario, them, deviated=run.deviated)
    news = valid_news(run.party.news)
    yield from map(
        grouped, filter(None, (end_of_play(news, us, them), end_on_chain(news, us, them)))
    )
    yield result_text(got, put, scenario.terms.unit) if any(put) else "No channel was opened."
    if not broken:
        yield f"Every promise to {us} was kept."
    else:
        were = "was" if len(broken) == 1 else "were"
        how = broken[0].how.rstrip(".")
        yield grouped(f"{counted(len(broken), 'promise')} to {us} {were} broken: {how}.")


def _deviation(scenario: Scenario, them: str, *, deviated: bool) -> str:
    if not scenario.adversary:
        return "Both sides are honest."
    about = get(scenario.adversary).about
    if not deviated:
        return f"{them} was to cheat as {scenario.adversary}, but found nothing to change."
    return f"{them} cheats as {scenario.adversary}: it {about}."


def put_in(run: Run, got: Money) -> Money:
    """What both sides put in, in mojos: nothing where no channel was opened."""
    opened = any(got) or result_of(run) is not RunResult.NO_CHANNEL
    return (run.scenario.balance, run.scenario.balance) if opened else (0, 0)


def why_lost(run: Run, broken: Sequence[BrokenPromise]) -> str:
    """Why a side got less than it put in."""
    if broken:
        return "with a promise broken"
    if result_of(run) is RunResult.SLASHED:
        return "because its illegal move was slashed"
    return "in play, by the rules"


def money_of(run: Run) -> Money:
    """What both sides were paid, in mojos."""
    return run.paid(0), run.paid(1)
