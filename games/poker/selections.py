"""The best selection of a player's cards at the showdown, as a mask."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from channelsim.games.masks import pickers
from channelsim.games.poker.ranking import HIGH


def best_selection(cards: Sequence[int]) -> tuple[int, int]:
    """The key of the best five of seven cards and their mask; the lowest mask of equals.

    >>> best_selection((48, 49, 0, 4, 9, 50, 51))
    (7872512, 123)
    """
    return _best(tuple(cards))


@lru_cache(maxsize=4096)
def _best(cards: tuple[int, ...]) -> tuple[int, int]:
    keyed = ((HIGH.key(pick(cards)), mask) for mask, pick in pickers(len(cards), 5).items())
    return max(keyed, key=lambda pair: (pair[0], -pair[1]))
