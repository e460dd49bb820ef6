"""Meetings: calls in which the hands of both players are compared, of every class with every other.

A program that takes one class of hands for another is wrong only where these two meet, and good
hands seldom meet. A game that says how its rules rank two hands (`Game.showdown`) has every class
tried against every other and against itself, at each kicker, as soon as some secrets deal them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeAlias

from channelsim.channel.lab.cases.duels import least_share
from channelsim.channel.lab.cases.move_changes import SELECTIONS
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.sites.values import numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.games.contract import Rank, Valid

TIMES = 2
"""The number of times that each meeting is tried."""

Meeting: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], int]
"""The classes of the mover's and of the waiter's hand; and of one class, at which kicker the first
difference is and whose is better, or of two classes, whose kickers are better."""


def meeting(mover: Rank, waiter: Rank) -> Meeting:
    """The common key of all calls that compare two hands in the same way.

    >>> meeting(((3, 2), (9, 4)), ((3, 1, 1), (9, 8, 2)))
    ((3, 2), (3, 1, 1), -1)
    >>> meeting(((3, 2), (9, 4)), ((3, 2), (9, 2))), meeting(((5,), (2,)), ((5,), (2,)))
    (((3, 2), (3, 2), 2), ((5,), (5,), 0))
    """
    mine, theirs = mover[1], waiter[1]
    better = (mine > theirs) - (mine < theirs)
    if mover[0] != waiter[0]:
        return mover[0], waiter[0], better
    pairs = enumerate(zip(mine, theirs, strict=False), 1)
    first = next((at for at, (one, other) in pairs if one != other), 0)
    return mover[0], waiter[0], better * first


class Meetings:
    """The meetings that were tried so far on one target, each with the times."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._selections: dict[str, list[bytes]] = {}
        self.counts: Counter[Meeting] = Counter()

    def at(self, site: Site) -> bool:
        """True if hands are compared at this site."""
        return bool(self._taken(site))

    def calls(self, site: Site) -> Iterator[Call]:
        """The calls at this site by which hands meet that seldom did: each with the least share
        that the rules allow, and with the next lower number."""
        ranked = [(one, self._ranks(site, one, one)) for one in self._taken(site)]
        mine = _best_and_worst((ranks[0], one) for one, ranks in ranked if ranks is not None)
        theirs = _best_and_worst((ranks[1], one) for one, ranks in ranked if ranks is not None)
        for mover, move in mine:
            for waiter, evidence in theirs:
                found = meeting(mover, waiter)
                if self.counts[found] < TIMES:
                    self.counts[found] += 1
                    yield from self._at_the_limit(site, site.play.move[:-1] + move, evidence)

    def _taken(self, site: Site) -> list[bytes]:
        """The selections that this validator takes, as the last byte of a move and as evidence."""
        known = self._selections.get(site.validator)
        if not known:
            known = [one for one in SELECTIONS if self._ranks(site, one, one) is not None]
            self._selections[site.validator] = known
        return known

    def _ranks(self, site: Site, move: bytes, evidence: bytes) -> tuple[Rank, Rank] | None:
        showdown = self._target.game.showdown
        if showdown is None or site.before.state is None or not site.play.move:
            return None
        return showdown(site.before.state, site.play.move[:-1] + move, evidence)

    def _at_the_limit(self, site: Site, move: bytes, evidence: bytes) -> Iterator[Call]:
        judge = partial(site.rules_say, self._target)
        shares = numbers(site.state, site.amount, site.play.share)
        if isinstance(judge(move, shares[-1], evidence), Valid):
            least = least_share(shares, judge, move, evidence)
            yield move, shares[least], evidence
            if least:
                yield move, shares[least - 1], evidence


def _best_and_worst(hands: Iterable[tuple[Rank, bytes]]) -> list[tuple[Rank, bytes]]:
    """The best and the worst hand of each class."""
    ordered = sorted(hands)
    best = {rank[0]: (rank, selection) for rank, selection in ordered}
    worst = {rank[0]: (rank, selection) for rank, selection in reversed(ordered)}
    return list(dict.fromkeys((*best.values(), *worst.values())))
