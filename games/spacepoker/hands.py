"""The values of hands of Space Poker, the best five of seven, and their names.

A value is a list that starts with the counts of equal ranks, then the boost (1 or 0), then the
ranks; the first difference decides. A straight counts as 3 3, which puts it above the full house.

Values of five cards, and of seven, are cached: there are 6,188 and 50,388 of them up to order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from channelsim.games import hand_classes
from channelsim.games.cards import rank_text
from channelsim.games.counting import WEIGHTS, HandValue, groups, is_run, masks, pickers
from channelsim.games.hand_classes import (
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    SET,
    STRAIGHT,
    TWO_PAIR,
    Classes,
    hand_name,
)

# --- values -------------------------------------------------------------------------------------


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
    return _values([ranks])[0][boost]


def _values(fives: Sequence[Sequence[int]]) -> list[tuple[HandValue, HandValue]]:
    """The values of several fives, without and with the boost."""
    grouped = [groups(five) for five in fives]
    runs = [is_run(ranks) for _, ranks in grouped]
    classed = [
        ((3, 3), ranks[:1]) if run else (counts, ranks)
        for (counts, ranks), run in zip(grouped, runs, strict=True)
    ]
    return [((*counts, 0, *ranks), (*counts, 1, *ranks)) for counts, ranks in classed]


def value_of_five(ranks: Sequence[int], boost: int) -> HandValue:
    """The same as `value_of`, cached.

    >>> value_of_five((2, 2, 2, 2, 2), 0)
    (5, 0, 2)
    """
    a, b, c, d, e = ranks
    key = WEIGHTS[a] + WEIGHTS[b] + WEIGHTS[c] + WEIGHTS[d] + WEIGHTS[e]
    try:
        return _FIVE[key][boost]
    except KeyError:
        (_FIVE[key],) = _values([ranks])
        return _FIVE[key][boost]


def best_of_seven(ranks: Sequence[int], boost: int) -> HandValue:
    """The value of the best five of exactly seven cards, in any order.

    >>> best_of_seven((13, 4, 9, 13, 4, 2, 9), 1)
    (2, 2, 1, 1, 13, 9, 4)
    """
    a, b, c, d, e, f, g = ranks
    key = WEIGHTS[a] + WEIGHTS[b] + WEIGHTS[c] + WEIGHTS[d] + WEIGHTS[e] + WEIGHTS[f] + WEIGHTS[g]
    try:
        return _SEVEN[key][boost]
    except KeyError:
        # The boost is the same for every five of the seven, so the same five are best with both.
        _SEVEN[key] = max(_values([*set(combinations(sorted(ranks), 5))]))
        return _SEVEN[key][boost]


def value_of_selection(cards: Sequence[int], mask: int, boost: int) -> HandValue:
    """The value of the five of seven cards that a mask of `FIVE_OF_SEVEN` selects.

    >>> value_of_selection((13, 4, 9, 13, 4, 2, 9), 0b0011111, 0)
    (2, 2, 1, 0, 13, 4, 9)
    """
    return value_of_five(_PICK[mask](cards), boost)


@lru_cache(maxsize=256)
def best_selection(cards: tuple[int, ...], boost: int) -> tuple[int, HandValue]:
    """The mask and the value of the best five of seven cards; of equals, the lowest mask.

    >>> mask, value = best_selection((13, 4, 9, 13, 4, 2, 9), 0)
    >>> bin(mask), value
    ('0b1001111', (2, 2, 1, 0, 13, 9, 4))
    """
    fives = _values([pick(cards) for pick in _PICK.values()])
    values = {mask: both[boost] for mask, both in zip(_PICK, fives, strict=True)}
    best = max(values, key=values.__getitem__)
    return best, values[best]


# --- names, and the reason why one hand beats another -------------------------------------------


CLASSES: Classes = {
    (5,): ("five of a kind", ("five of a kind",)),
    (4, 1): FOUR_OF_A_KIND,
    (3, 3): STRAIGHT,
    (3, 2): FULL_HOUSE,
    (3, 1, 1): SET,
    (2, 2, 1): TWO_PAIR,
    (2, 1, 1, 1): PAIR,
    (1, 1, 1, 1, 1): HIGH_CARD,
}
"""The classes of hands, best first; the boost stands between the class and the ranks."""


def card_names(ranks: Sequence[int]) -> str:
    """Several cards, or a dash for none."""
    return " ".join(rank_text(rank) for rank in ranks) or "-"


def boost_sign(boost: int) -> str:
    """`+` or `-`, in data."""
    return "+" if boost else "-"


def boost_text(boost: int) -> str:
    """`+ boost` or `no boost`: a sign alone before the word would read as a dash."""
    return "+ boost" if boost else "no boost"


def split(value: HandValue) -> tuple[HandValue, int, tuple[int, ...]]:
    """Split a value into what its class starts with, the boost, and the ranks.

    >>> split((3, 3, 1, 9))
    ((3, 3), 1, (9,))
    """
    start, (boost, *ranks) = hand_classes.split(value, CLASSES)
    return start, boost, tuple(ranks)


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 2, 1, 1, 13, 4, 9))
    'two pair, kings and fours, + boost'
    >>> describe((3, 3, 0, 9))
    'straight, nine high, no boost'
    """
    start, boost, ranks = split(value)
    return f"{hand_name(CLASSES[start][0], ranks)}, {boost_text(boost)}"


def selection_text(cards: Sequence[int], mask: int, boost: int) -> str:
    """The five of seven cards that a mask of `FIVE_OF_SEVEN` selects, by name.

    >>> selection_text((13, 4, 9, 13, 4, 2, 9), 0b0011111, 0)
    'two pair, kings and fours, no boost (K 4 9 K 4)'
    """
    value = value_of_selection(cards, mask, boost)
    return f"{describe(value)} ({card_names(_PICK[mask](cards))})"


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """The reason why the first hand beats the second: the class, the boost, or a rank.

    >>> decided_by((3, 3, 0, 9), (2, 2, 1, 1, 13, 4, 9))
    'class: straight over two pair'
    >>> decided_by((2, 2, 1, 1, 5, 4, 9), (2, 2, 1, 0, 13, 4, 9))
    'boost: both two pair, + over -'
    >>> decided_by((2, 2, 1, 1, 13, 4, 9), (2, 2, 1, 1, 13, 4, 7))
    'kicker: nine over seven'
    >>> decided_by((3, 3, 0, 9), (3, 3, 0, 9))
    'split: equal hands'
    """
    start, boost, ranks = split(winner)
    other_start, other_boost, other_ranks = split(loser)
    if start == other_start and boost != other_boost:
        return f"boost: both {CLASSES[start][0]}, + over -"
    return hand_classes.decided_by((*start, *ranks), (*other_start, *other_ranks), CLASSES)
