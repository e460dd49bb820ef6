"""Names of cards and hands, and the reason why one hand beats another."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.games.calpoker.hands import rank_of, suit_of
from channelsim.games.cards import face, letters
from channelsim.games.contract import Span
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
    class_of,
    deciding_rank,
    hand_name,
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


def card_face(card: int) -> Span:
    """A card with its suit, as a span.

    >>> card_face(51), card_face(1)
    (('A♠', 'bold'), ('2♦', 'bold red'))
    """
    return face(rank_of(card), suit_of(card))


def card_name(card: int) -> str:
    """A card in two plain letters.

    >>> card_name(51), card_name(34)
    ('As', 'Th')
    """
    return letters(rank_of(card), suit_of(card))


def signs(cards: Sequence[int]) -> str:
    """Several cards with the signs of their suits.

    >>> signs((34, 51))
    '10♥ A♠'
    """
    return " ".join(card_face(card)[0] for card in cards)


def split(value: HandValue) -> tuple[HandValue, tuple[int, ...]]:
    """Split a value into what its class starts with, and the ranks.

    >>> split((3, 1, 2, 9))
    ((3, 1, 2), (9,))
    """
    start = class_of(value, CLASSES)
    return start, value[len(start) :]


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 2, 1, 13, 4, 9))
    'two pair, kings and fours'
    >>> describe((5, 14)), describe((3, 1, 2, 5))
    ('royal flush', 'straight, five high')
    """
    if value == ROYAL:
        return "royal flush"
    start, ranks = split(value)
    return hand_name(CLASSES[start][0], ranks)


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """The reason why the first hand beats the second: the class, or a rank.

    >>> decided_by((3, 1, 2, 9), (2, 2, 1, 13, 4, 9))
    'class: straight over two pair'
    >>> decided_by((2, 2, 1, 13, 4, 9), (2, 2, 1, 13, 4, 7))
    'kicker: nine over seven'
    >>> decided_by((5, 9), (5, 9))
    'split: equal hands'
    """
    start, ranks = split(winner)
    other_start, other_ranks = split(loser)
    name, roles = CLASSES[start]
    if start != other_start:
        return f"class: {name} over {CLASSES[other_start][0]}"
    return deciding_rank(roles, ranks, other_ranks)
