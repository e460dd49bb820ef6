"""Names of hands, and the reason why one hand beats another."""

from __future__ import annotations

from channelsim.games import hand_classes
from channelsim.games.counting import HandValue
from channelsim.games.hand_classes import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    SET,
    STRAIGHT,
    TWO_PAIR,
    Classes,
)

CLASSES: Classes = {
    (5,): ("straight flush", ("highest card",)),
    (4, 1): FOUR_OF_A_KIND,
    (3, 2): FULL_HOUSE,
    (3, 1, 3): FLUSH,
    (3, 1, 2): STRAIGHT,
    (3, 1, 1): SET,
    (2, 2, 1): TWO_PAIR,
    (2, 1, 1, 1): PAIR,
    (1, 1, 1, 1, 1): HIGH_CARD,
}
"""The classes of hands, best first."""

ROYAL = (5, 14)
"""The value of the highest straight flush, which has a name of its own."""


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 2, 1, 13, 4, 9))
    'two pair, kings and fours'
    >>> describe((5, 14)), describe((3, 1, 2, 5))
    ('royal flush', 'straight, five high')
    """
    return "royal flush" if value == ROYAL else hand_classes.describe(value, CLASSES)


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """The reason why the first hand beats the second: the class, or a rank.

    >>> decided_by((3, 1, 2, 9), (2, 2, 1, 13, 4, 9))
    'class: straight over two pair'
    >>> decided_by((2, 2, 1, 13, 4, 9), (2, 2, 1, 13, 4, 7))
    'kicker: nine over seven'
    >>> decided_by((5, 9), (5, 9))
    'split: equal hands'
    """
    return hand_classes.decided_by(winner, loser, CLASSES)
