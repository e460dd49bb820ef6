"""The division of a channel's money over time, by the news of one peer, and its chart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Fact,
    GamePaid,
    StateCounts,
    Undone,
)
from channelsim.channel.peer.interface import ChannelOpen, GameSettled, GameStarted, News
from channelsim.channel.report.html.session_data import Balances

WIDTH, HEIGHT = 1000, 160
"""The size of the chart, in its own units."""

Division = tuple[int, int, int]
"""The initiator's money, that in live games, and the receiver's, in mojos."""


class MoneyLog:
    """Follows the news of the peer on this side; `balances` has each change."""

    def __init__(self, side: int, contributions: tuple[int, int]) -> None:
        self.balances: list[Balances] = []
        self._side = side
        self._off_chain: Division = (contributions[0], 0, contributions[1])
        self._facts: list[Fact] = []
        self._is_open = False

    def follow(self, event: int, news: News) -> None:
        """Take in news that come with the event of this index."""
        before, games, after = self._off_chain
        match news:
            case ChannelOpen():
                self._is_open = True
            case GameStarted(game):
                stakes = game.terms.stakes if game.alice == 0 else game.terms.stakes[::-1]
                staked = games + sum(stakes)
                self._off_chain = before - stakes[0], staked, after - stakes[1]
            case GameSettled(_, _, ours, theirs):
                first, second = self._by_side(ours, theirs)
                self._off_chain = before + first, games - first - second, after + second
            case StateCounts() | GamePaid() | ChannelSettled() | ChannelClosed():
                self._facts.append(news)
            case Undone(fact) if fact in self._facts:
                self._facts.remove(fact)
            case _:
                return
        if self._is_open:
            self._add(event)

    def _add(self, event: int) -> None:
        division = self._off_chain
        # A channel may settle before the other side has claimed what it will get.
        for fact in sorted(self._facts, key=lambda known: isinstance(known, ChannelSettled)):
            division = self._after(division, fact)
        balances = Balances(event, *division)
        last = self.balances[-1] if self.balances else None
        if last is not None and last.event == event:
            self.balances[-1] = balances
        elif last is None or last.edges() != balances.edges():
            self.balances.append(balances)

    def _after(self, division: Division, fact: Fact) -> Division:
        before, games, after = division
        match fact:
            case StateCounts(rewards=(first, second), games=coins):
                paid = first.amount if first else 0, second.amount if second else 0
                return paid[0], sum(coin.amount for _, coin in coins), paid[1]
            case GamePaid(_, _, our_coin, their_coin):
                amounts = (coin.amount if coin else 0 for coin in (our_coin, their_coin))
                paid = self._by_side(*amounts)
                return before + paid[0], games - sum(paid), after + paid[1]
            case ChannelSettled(_, ours, theirs):
                paid = self._by_side(ours, theirs)
                return paid[0], 0, paid[1]
            case _:
                return division

    def _by_side(self, ours: int, theirs: int) -> tuple[int, int]:
        return (theirs, ours) if self._side else (ours, theirs)


def areas(balances: Sequence[Balances], events: int) -> tuple[str, ...]:
    """The polygons of the initiator's money, that in games and the receiver's, from the bottom up.

    Each is a list of points for SVG; money changes in steps. None if there is nothing to show.

    >>> areas([Balances(0, 50, 0, 50)], 2)[0]
    '0,80 1000,80 1000,160 0,160'
    """
    whole = max((division.total for division in balances), default=0)
    if not whole:
        return ()
    last = max(events - 1, 1)
    begins = [_round(division.event / last * WIDTH) for division in balances]
    ends = [*begins[1:], str(WIDTH)]
    lines: list[list[str]] = [[], [], [], []]
    for division, begin, end in zip(balances, begins, ends, strict=True):
        for line, edge in zip(lines, division.edges(), strict=True):
            y = _round(HEIGHT - edge / whole * HEIGHT)
            line += [f"{begin},{y}", f"{end},{y}"]
    return tuple(" ".join([*upper, *reversed(lower)]) for lower, upper in pairwise(lines))


def _round(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
