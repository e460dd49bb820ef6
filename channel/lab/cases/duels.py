"""Calls in which the hands of both players are compared: duels, and meetings of every class.

Random selections are mostly poor hands, so that comparisons of good hands are rarely tried. In a
duel each side searches for a better selection in turn: the rules decide which gets more, and both
improve until one finds nothing better. Each pair on the way comes with the least share that the
rules allow and with the next lower number: if the program compares the two selections differently,
it differs on one of these.

A program that takes one class of hands for another is wrong only where these two meet, and good
hands seldom meet. A game that says how its rules rank two hands (`Game.showdown`) has every class
tried against every other and against itself, at each kicker, as soon as some secrets deal them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from channelsim.channel.lab.cases.mutator import SELECTIONS
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.sites.values import numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import Value
from channelsim.games.contract import Raise, Rank, Slash, Valid, Verdict

TURNS = 12
"""The most turns of a duel."""


def duel(target: Target, site: Site, chance: FastChance) -> Iterator[Call]:
    """The calls of one duel at this site; none where the verdict does not depend on evidence
    and share, or where every selection is refused."""
    judge = partial(site.rules_say, target)
    shares = numbers(site.state, site.amount, site.play.share)
    move, evidence = site.play.move, site.held[-1]
    if not move or not isinstance(judge(move, shares[-1], b""), Raise):
        return
    if chance.random() < 0.8 or not isinstance(judge(move, shares[-1], evidence), Valid):
        takes = (
            selection
            for selection in _mixed(chance)
            if isinstance(judge(move, shares[-1], selection), Valid)
        )
        first = next(takes, None)
        if first is None:
            return
        evidence = first
        shown = (move[:-1] + last for last in _mixed(chance))
        move = next(m for m in shown if isinstance(judge(m, shares[-1], evidence), Valid))
    for turn in range(TURNS):
        least = least_share(shares, judge, move, evidence)
        yield move, shares[least], evidence
        if not least:
            return
        yield move, shares[least - 1], evidence
        if turn % 2:
            better = (
                (other, evidence)
                for other in (move[:-1] + last for last in _mixed(chance))
                if isinstance(judge(other, shares[least - 1], evidence), Valid)
            )
        else:
            better = (
                (move, selection)
                for selection in _mixed(chance)
                if isinstance(judge(move, shares[least], selection), Slash)
            )
        pair = next(better, None)
        if pair is None and turn:
            return
        move, evidence = pair or (move, evidence)


def _mixed(chance: FastChance) -> list[bytes]:
    return chance.shuffled(SELECTIONS)


def least_share(
    shares: tuple[int, ...],
    judge: Callable[[bytes, int, Value], Verdict],
    move: bytes,
    evidence: Value,
) -> int:
    """The index of the least share that is legal; the last one is known to be."""
    low, high = 0, len(shares) - 1
    while low < high:
        middle = (low + high) // 2
        if isinstance(judge(move, shares[middle], evidence), Valid):
            high = middle
        else:
            low = middle + 1
    return low


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
    first = next((at for at, (own, other) in pairs if own != other), 0)
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
        ranked = [
            (selection, self._ranks(site, selection, selection)) for selection in self._taken(site)
        ]
        mine = _best_and_worst((ranks[0], last) for last, ranks in ranked if ranks is not None)
        theirs = _best_and_worst((ranks[1], last) for last, ranks in ranked if ranks is not None)
        for mover, move in mine:
            for waiter, evidence in theirs:
                key = meeting(mover, waiter)
                if self.counts[key] < TIMES:
                    self.counts[key] += 1
                    yield from self._at_the_limit(site, site.play.move[:-1] + move, evidence)

    def _taken(self, site: Site) -> list[bytes]:
        """The selections that this validator takes, as the last byte of a move and as evidence."""
        known = self._selections.get(site.validator)
        if not known:
            known = [
                selection
                for selection in SELECTIONS
                if self._ranks(site, selection, selection) is not None
            ]
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
