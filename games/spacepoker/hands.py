"""The values of hands of Space Poker, as lists, and the best five of seven.

A value starts with the counts of equal ranks, then the boost (1 or 0), then the ranks; the
first difference decides. A straight counts as 3 3, which puts it above the full house.

Values of five cards, and of seven, are cached: there are 6,188 and 50,388 of them up to order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from channelsim.games.counting import WEIGHTS, HandValue, groups, is_run
from channelsim.games.masks import masks, pickers

FIVE_OF_SEVEN = frozenset(masks(7, 5))
"""The 21 selections of five of a player's seven cards."""

_PICK = pickers(7, 5)

_FIVE: dict[int, tuple[HandValue, HandValue]] = {}
_SEVEN: dict[int, tuple[HandValue, HandValue]] = {}
"""Values without and with the boost, by the sum of the cards' weights."""


def value_of(ranks: Sequence[int], boost: int) -> HandValue:
    """The value of exactly five cards, by the rule.

    >>> value_of((13, 4, 9, 13, 4), 1)
    (2, 2, 1, 1, 13, 4, 9)
    >>> value_of((6, 5, 9, 8, 7), 0)
    (3, 3, 0, 9)
    >>> value_of((14, 2, 3, 4, 5), 0)
    (1, 1, 1, 1, 1, 0, 14, 5, 4, 3, 2)
    """
    counts, ordered = groups(ranks)
    if is_run(ordered):
        return (3, 3, boost, ordered[0])
    return (*counts, boost, *ordered)


def value_of_five(ranks: Sequence[int], boost: int) -> HandValue:
    """The same as `value_of`, cached.

    >>> value_of_five((2, 2, 2, 2, 2), 0)
    (5, 0, 2)
    """
    a, b, c, d, e = ranks
    try:
        return _FIVE[WEIGHTS[a] + WEIGHTS[b] + WEIGHTS[c] + WEIGHTS[d] + WEIGHTS[e]][boost]
    except KeyError:
        key = sum(WEIGHTS[rank] for rank in ranks)
        _FIVE[key] = value_of(ranks, 0), value_of(ranks, 1)
        return _FIVE[key][boost]


def best_of_seven(ranks: Sequence[int], boost: int) -> HandValue:
    """The value of the best five of exactly seven cards, in any order.

    >>> best_of_seven((13, 4, 9, 13, 4, 2, 9), 1)
    (2, 2, 1, 1, 13, 9, 4)
    """
    a, b, c, d, e, f, g = ranks
    try:
        return _SEVEN[
            WEIGHTS[a] + WEIGHTS[b] + WEIGHTS[c] + WEIGHTS[d] + WEIGHTS[e] + WEIGHTS[f] + WEIGHTS[g]
        ][boost]
    except KeyError:
        # The boost is the same for every five of the seven, so the same five are best with both.
        fives = set(combinations(sorted(ranks), 5))
        key = sum(WEIGHTS[rank] for rank in ranks)
        _SEVEN[key] = (
            max(value_of_five(five, 0) for five in fives),
            max(value_of_five(five, 1) for five in fives),
        )
        return _SEVEN[key][boost]


def value_of_selection(cards: Sequence[int], mask: int, boost: int) -> HandValue:
    """The value of the five of seven cards that a mask of `FIVE_OF_SEVEN` selects.

    >>> value_of_selection((13, 4, 9, 13, 4, 2, 9), 0b0011111, 0)
    (2, 2, 1, 0, 13, 4, 9)
    """
    return value_of_five(_PICK[mask](cards), boost)


def best_selection(cards: Sequence[int], boost: int) -> int:
    """The mask of the best five of seven cards; among equals, the lowest mask.

    >>> bin(best_selection((13, 4, 9, 13, 4, 2, 9), 0))
    '0b1001111'
    """
    best = best_of_seven(cards, boost)
    return next(m for m, pick in _PICK.items() if value_of_five(pick(cards), boost) == best)
