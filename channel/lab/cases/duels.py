"""Duels: at a site where two selections are compared, each side searches for a better one in turn.

Random selections are mostly poor hands, so that comparisons of good hands are rarely tried. Here
the rules decide which selection gets more, and both sides improve until one finds nothing better.
Each pair on the way comes with the least share that the rules allow and with the next lower number:
if the program compares the two selections differently, it differs on one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from channelsim.channel.lab.cases.move_changes import SELECTIONS
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.sites.values import numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import Value
from channelsim.games.contract import Raise, Slash, Valid, Verdict

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
        takes = (one for one in _mixed(chance) if isinstance(judge(move, shares[-1], one), Valid))
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
                (one, evidence)
                for one in (move[:-1] + last for last in _mixed(chance))
                if isinstance(judge(one, shares[least - 1], evidence), Valid)
            )
        else:
            better = (
                (move, one)
                for one in _mixed(chance)
                if isinstance(judge(move, shares[least], one), Slash)
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
