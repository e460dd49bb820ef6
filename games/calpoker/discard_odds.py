"""The odds of each choice of discards against an opponent that picks any four alike.

There are 70 answers to each of 70 choices, so the odds are counted, not sampled: they are exact.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Cards, given, remaining
from channelsim.games.calpoker.hands import best_of_eight

ANSWERS = len(FOUR_OF_EIGHT)
"""The number of answers that the other player has."""

_MASKS = sorted(FOUR_OF_EIGHT)


class DiscardOdds(msgspec.Struct, frozen=True, gc=False):
    """The number of answers that a choice wins against, and that it ties with."""

    wins: int
    ties: int

    def text(self) -> str:
        """The odds in a phrase, with their error.

        >>> DiscardOdds(52, 1).text()
        'wins 74.3 %, ties 1.4 % (52 and 1 of 70 answers, error 0)'
        """
        wins, ties = (100 * count / ANSWERS for count in (self.wins, self.ties))
        counted = f"{self.wins} and {self.ties} of {ANSWERS} answers, error 0"
        return f"wins {wins:.1f} %, ties {ties:.1f} % ({counted})"


@lru_cache(maxsize=16)
def discard_odds(own: Cards, others: Cards) -> dict[int, DiscardOdds]:
    """The odds of each of the 70 masks that give four of `own` away against `others`.

    >>> best = discard_odds((0, 1, 2, 3, 4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15))[0xF0]
    >>> best.wins, best.ties
    (1, 0)
    """
    mine_kept = [remaining(own, mask) for mask in _MASKS]
    mine_given = [given(own, mask) for mask in _MASKS]
    yours = [(remaining(others, mask), given(others, mask)) for mask in _MASKS]
    odds = {}
    for mask, keeping, giving in zip(_MASKS, mine_kept, mine_given, strict=True):
        wins = ties = 0
        for their_kept, their_given in yours:
            ours, theirs = best_of_eight(keeping + their_given), best_of_eight(their_kept + giving)
            if ours > theirs:
                wins += 1
            elif ours == theirs:
                ties += 1
        odds[mask] = DiscardOdds(wins, ties)
    return odds


def best_response(own: Cards, others: Cards) -> int:
    """The mask that wins most often, among equals the one that ties most often, then the lowest."""
    known = discard_odds(own, others)
    return max(_MASKS, key=lambda mask: (known[mask].wins, known[mask].ties, -mask))
