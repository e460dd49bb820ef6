"""The values of hands of California Poker, the best five of eight, and their names.

A value is a list that starts with the counts of equal ranks, then the ranks; the first difference
decides. A straight counts as 3 1 2 and a flush as 3 1 3, which puts both between set and full
house.

Values are cached by the sum of the cards' weights: its low bits determine the ranks of a hand, its
high bits the number of cards of each suit. So nearly every hand of eight takes eight additions and
one look-up; only hands with five cards of a suit take more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations

from channelsim.games import hand_classes
from channelsim.games.calpoker.deal import HAND
from channelsim.games.cards import signs
from channelsim.games.counting import (
    RANKS,
    WEIGHTS,
    HandValue,
    groups,
    is_run,
    masks,
    pickers,
    rank_of,
    suit_of,
)
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

# --- values -------------------------------------------------------------------------------------


FIVE_OF_EIGHT = frozenset(masks(HAND, 5))
"""The 56 selections of five of eight cards."""

_PICK = pickers(HAND, 5)

_SUITS = 32
"""The lowest bit of a sum for the suits; each has four bits."""

_RANK_BITS = (1 << _SUITS) - 1

_CARDS = tuple(WEIGHTS[rank] + (1 << _SUITS + 4 * suit) for rank in RANKS for suit in range(4))
"""The weight of each card; a number from 0 to 51 is (rank − 2) × 4 + suit."""

_THREE_OF_EACH = 0x3333 << _SUITS
_EIGHTS = 0x8888 << _SUITS
"""Adding three cards of each suit sets the top bit of the suits that have five or more."""

_FLUSH = 0x5
_FLUSHES = frozenset(_FLUSH << 4 * suit for suit in range(4))

_FIVE: dict[int, HandValue] = {}
_FIVE_OF_A_SUIT: dict[int, HandValue] = {}
_EIGHT: dict[int, HandValue] = {}
_OF_A_SUIT: dict[int, HandValue] = {}
"""Values by the sum of the ranks' weights: of five cards that are no flush, and that are; the
best of eight if no five are of one suit; the best of five to eight cards of one suit."""


def value_of(cards: Sequence[int]) -> HandValue:
    """The value of exactly five cards, by the rule.

    >>> value_of((44, 8, 31, 45, 9))
    (2, 2, 1, 13, 4, 9)
    >>> value_of((0, 4, 8, 12, 48)), value_of((1, 4, 8, 12, 48))
    ((5, 5), (3, 1, 2, 5))
    """
    ranks = [rank_of(card) for card in cards]
    return value_of_ranks(ranks, flush=len({suit_of(card) for card in cards}) == 1)


def value_of_ranks(ranks: Sequence[int], *, flush: bool) -> HandValue:
    """The value of five cards of these ranks, all of one suit or not.

    >>> value_of_ranks((2, 9, 4, 14, 3), flush=True)
    (3, 1, 3, 14, 9, 4, 3, 2)
    """
    counts, ordered = groups(ranks)
    high = straight_high(ordered)
    match high, flush:
        case 0, False:
            return (*counts, *ordered)
        case 0, True:
            return (3, 1, 3, *ordered)
        case _, False:
            return (3, 1, 2, high)
        case _:
            return (5, high)


_known_value = cache(value_of_ranks)
"""The same for a tuple of ranks in ascending order, of which there are few."""


def straight_high(descending: Sequence[int]) -> int:
    """The highest card of a straight, by its different ranks from high to low; 0 for other hands.

    >>> straight_high((9, 8, 7, 6, 5)), straight_high((14, 5, 4, 3, 2)), straight_high((14, 5))
    (9, 5, 0)
    """
    if is_run(descending):
        return descending[0]
    return 5 if tuple(descending) == (14, 5, 4, 3, 2) else 0


def value_of_five(cards: Sequence[int]) -> HandValue:
    """The same as `value_of`, cached.

    >>> value_of_five((0, 1, 2, 3, 4))
    (4, 1, 2, 3)
    """
    a, b, c, d, e = cards
    total = _CARDS[a] + _CARDS[b] + _CARDS[c] + _CARDS[d] + _CARDS[e]
    known = _FIVE_OF_A_SUIT if total >> _SUITS in _FLUSHES else _FIVE
    try:
        return known[total & _RANK_BITS]
    except KeyError:
        value = known[total & _RANK_BITS] = value_of(cards)
        return value


def best_of_eight(cards: Sequence[int]) -> HandValue:
    """The value of the best five of exactly eight cards, in any order.

    >>> best_of_eight((0, 4, 8, 12, 16, 17, 18, 19))
    (5, 6)
    >>> best_of_eight((1, 4, 8, 13, 17, 18, 19, 29))
    (3, 1, 2, 6)
    """
    a, b, c, d, e, f, g, h = cards
    total = (
        (_CARDS[a] + _CARDS[b] + _CARDS[c] + _CARDS[d])
        + (_CARDS[e] + _CARDS[f] + _CARDS[g] + _CARDS[h])
    )  # fmt: skip
    if total + _THREE_OF_EACH & _EIGHTS:
        return max(_best_of_a_suit(cards, total), _best_of_ranks(cards, total & _RANK_BITS))
    try:
        return _EIGHT[total & _RANK_BITS]
    except KeyError:
        return _best_of_ranks(cards, total & _RANK_BITS)


def _best_of_ranks(cards: Sequence[int], key: int) -> HandValue:
    """The best five of eight cards without regard to suits."""
    if key not in _EIGHT:
        ranks = sorted(rank_of(card) for card in cards)
        _EIGHT[key] = _best(combinations(ranks, 5), flush=False)
    return _EIGHT[key]


def _best_of_a_suit(cards: Sequence[int], total: int) -> HandValue:
    """The best five of the one suit that has at least five of the cards."""
    marked = total + _THREE_OF_EACH & _EIGHTS
    suit = (marked.bit_length() - 1 - _SUITS) // 4
    suited = [card for card in cards if card & 3 == suit]
    key = sum([_CARDS[card] for card in suited])
    # All suits are alike: only the ranks matter.
    key &= _RANK_BITS
    if key not in _OF_A_SUIT:
        ranks = [rank_of(card) for card in suited]
        _OF_A_SUIT[key] = _best(combinations(ranks, 5), flush=True)
    return _OF_A_SUIT[key]


def _best(fives: Iterable[tuple[int, ...]], *, flush: bool) -> HandValue:
    return max(_known_value(ranks, flush=flush) for ranks in set(fives))


def value_of_selection(cards: Sequence[int], mask: int) -> HandValue:
    """The value of the five of eight cards that a mask of `FIVE_OF_EIGHT` selects.

    >>> value_of_selection((0, 4, 8, 12, 16, 20, 24, 29), 0b11111000)
    (3, 1, 2, 9)
    """
    return value_of_five(_PICK[mask](cards))


def best_selection(cards: Sequence[int]) -> int:
    """The mask of the best five of eight cards; among equals, the lowest mask.

    >>> bin(best_selection((0, 4, 8, 12, 16, 20, 24, 29)))
    '0b1111100'
    """
    best = best_of_eight(cards)
    return next(mask for mask, pick in _PICK.items() if value_of_five(pick(cards)) == best)


# --- names, and the reason why one hand beats another -------------------------------------------


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


def selection_text(cards: Sequence[int], mask: int) -> str:
    """The five of eight cards that a mask of `FIVE_OF_EIGHT` selects, by name.

    >>> selection_text((0, 4, 8, 12, 16, 20, 24, 29), 0b11111000)
    'straight, nine high (5♣ 6♣ 7♣ 8♣ 9♦)'
    """
    five = _PICK[mask](cards)
    return f"{describe(value_of_five(five))} ({signs(five)})"


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
