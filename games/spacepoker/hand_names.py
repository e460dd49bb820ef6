"""Names of cards and hands, and the reason why one hand beats another."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.games import hand_classes
from channelsim.games.cards import rank_text
from channelsim.games.counting import HandValue
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
    """`+` or `-`."""
    return "+" if boost else "-"


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
    'straight, nine high, - boost'
    """
    start, boost, ranks = split(value)
    return f"{hand_name(CLASSES[start][0], ranks)}, {boost_sign(boost)} boost"


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
