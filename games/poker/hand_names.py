"""Names of hands, and the reason why one hand beats another."""

from __future__ import annotations

from channelsim.games import hand_classes
from channelsim.games.cards import rank_text
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
    (8,): ("straight flush", ("highest card",)),
    (7,): FOUR_OF_A_KIND,
    (6,): FULL_HOUSE,
    (5,): FLUSH,
    (4,): STRAIGHT,
    (3,): SET,
    (2,): TWO_PAIR,
    (1,): PAIR,
    (0,): HIGH_CARD,
}
"""The classes of hands, best first."""


def value_of_key(key: int) -> HandValue:
    """The class of a key and the ranks that it holds.

    The ace is 14 in every order.

    >>> value_of_key(0x2D4900), value_of_key(0x450000), value_of_key(0x084321)
    ((2, 13, 4, 9), (4, 5), (0, 8, 4, 3, 2, 14))
    """
    _, roles = CLASSES[(key >> 20,)]
    ranks = (key >> 16 - 4 * place & 15 for place in range(len(roles)))
    return key >> 20, *(14 if rank == 1 else rank for rank in ranks)


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 13, 4, 9))
    'two pair, kings and fours'
    """
    return hand_classes.describe(value, CLASSES)


def low_name(value: HandValue) -> str:
    """A hand that is better the lower it is: by its ranks, unless it has a class.

    >>> low_name((0, 8, 4, 3, 2, 14)), low_name((1, 9, 8, 7, 2))
    ('8-4-3-2-A', 'pair, nines')
    """
    return "-".join(map(rank_text, value[1:])) if value[0] == 0 else describe(value)


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """The reason why the first hand beats the second: the class, or a rank.

    >>> decided_by((4, 9), (2, 13, 4, 9)), decided_by((2, 13, 4, 9), (2, 13, 4, 7))
    ('class: straight over two pair', 'kicker: nine over seven')
    """
    return hand_classes.decided_by(winner, loser, CLASSES)
