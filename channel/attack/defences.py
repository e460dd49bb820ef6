"""What an honest side did in a session against a hostile one, or from an old copy of its files."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.attack.old_copies import RECOVERY
from channelsim.channel.peer.chain_news import GamePaid, LeftForChain, StateCounts
from channelsim.channel.peer.interface import BrokenOff, News, OldCopy

STALE, SLASHED, ACCUSED, REDONE, SHOWN, PUBLISHED = DEFENCES = (
    *("a stale state preempted", "an illegal move slashed", "a broken rule answered"),
    *("a move made again", "an old copy shown", "an old copy published"),
)
"""Goals of a campaign: what honest sides have to do at times."""


def defences(news: Sequence[News], pushed: Sequence[str]) -> list[str]:
    """Which of the `DEFENCES` one side needed, by its news and the names of its spends.

    >>> defences([OldCopy(signed=5, known=3), LeftForChain(RECOVERY, 3)], [])
    ['an old copy shown', 'an old copy published']
    """
    reached = {
        STALE: any(isinstance(item, StateCounts) and item.preempted for item in news),
        SLASHED: any(isinstance(item, GamePaid) and item.slashed == "us" for item in news),
        ACCUSED: any(isinstance(item, BrokenOff) for item in news),
        REDONE: "redo" in pushed,
        SHOWN: any(isinstance(item, OldCopy) for item in news),
        PUBLISHED: any(isinstance(item, LeftForChain) and item.reason == RECOVERY for item in news),
    }
    return [defence for defence in DEFENCES if reached[defence]]
