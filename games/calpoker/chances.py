"""How likely a choice of discards is to win, if the other player picks any four alike.

There are 70 answers to each of 70 choices, so the chances are counted, not sampled: they are
exact, their error is 0.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from games.calpoker.deal import FOUR_OF_EIGHT, Cards, given, kept
from games.calpoker.hands import best_of_eight

ANSWERS = len(FOUR_OF_EIGHT)
"""How many ways the other player has to answer."""

_MASKS = sorted(FOUR_OF_EIGHT)


class Chance(msgspec.Struct, frozen=True, gc=False):
    """Of all the answers, how many a choice wins against and how many it ties with."""

    wins: int
    ties: int

    def words(self) -> str:
        """The chance in a few words, with its error.

        >>> Chance(52, 1).words()
        'wins 74.3 %, ties 1.4 % (52 and 1 of 70 answers, error 0)'
        """
        wins, ties = (100 * count / ANSWERS for count in (self.wins, self.ties))
        counted = f"{self.wins} and {self.ties} of {ANSWERS} answers, error 0"
        return f"wins {wins:.1f} %, ties {ties:.1f} % ({counted})"


@lru_cache(maxsize=16)
def chances(own: Cards, others: Cards) -> dict[int, Chance]:
    """The chance of each of the 70 masks that give four of `own` away against `others`.

    >>> best = chances((0, 1, 2, 3, 4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15))[0xF0]
    >>> best.wins, best.ties
    (1, 0)
    """
    mine_kept = [kept(own, mask) for mask in _MASKS]
    mine_given = [given(own, mask) for mask in _MASKS]
    yours = [(kept(others, mask), given(others, mask)) for mask in _MASKS]
    found = {}
    for mask, keeping, giving in zip(_MASKS, mine_kept, mine_given, strict=True):
        wins = ties = 0
        for their_kept, their_given in yours:
            ours, theirs = best_of_eight(keeping + their_given), best_of_eight(their_kept + giving)
            if ours > theirs:
                wins += 1
            elif ours == theirs:
                ties += 1
        found[mask] = Chance(wins, ties)
    return found


def best_response(own: Cards, others: Cards) -> int:
    """The mask that wins most often, among equals the one that ties most often, then the lowest."""
    known = chances(own, others)
    return max(_MASKS, key=lambda mask: (known[mask].wins, known[mask].ties, -mask))
