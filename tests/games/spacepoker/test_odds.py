"""The specification's exact odds, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod

import pytest

from channelsim.games.chance import Chance
from channelsim.games.counting import RANKS
from channelsim.games.spacepoker.hands import CLASSES, best_of_seven, split, value_of_five

FIVE_CARDS = {
    "high card": 153_360,
    "pair": 171_600,
    "two pair": 25_740,
    "set": 17_160,
    "full house": 1_560,
    "straight": 1_080,
    "four of a kind": 780,
    "five of a kind": 13,
}
BEST_OF_SEVEN = {
    "high card": 7_660_800,
    "pair": 24_978_240,
    "two pair": 17_904_600,
    "set": 5_367_600,
    "full house": 3_903_900,
    "straight": 2_106_720,
    "four of a kind": 786_240,
    "five of a kind": 40_417,
}


def class_name(value: tuple[int, ...]) -> str:
    return CLASSES[split(value)[0]][0]


def orders(hand: Iterable[int]) -> int:
    """The number of sequences that have just these cards."""
    counts = Counter(hand).values()
    return factorial(sum(counts)) // prod(factorial(count) for count in counts)


def by_class(values: Counter[tuple[int, ...]]) -> dict[str, int]:
    classes: Counter[str] = Counter()
    for value, count in values.items():
        classes[class_name(value)] += count
    return dict(classes)


def test_every_sequence_of_five_cards() -> None:
    values = Counter(value_of_five(cards, 0) for cards in product(RANKS, repeat=5))
    assert by_class(values) == FIVE_CARDS
    assert len(values) == 6_188
    assert values.total() == 13**5 == 371_293


@pytest.mark.long
def test_best_of_seven_by_multisets() -> None:
    values: Counter[tuple[int, ...]] = Counter()
    for cards in combinations_with_replacement(RANKS, 7):
        values[best_of_seven(cards, 0)] += orders(cards)
    assert by_class(values) == BEST_OF_SEVEN
    assert values.total() == 13**7 == 62_748_517


@pytest.mark.long
def test_two_players_with_a_common_board() -> None:
    holes = {hole: orders(hole) for hole in combinations_with_replacement(RANKS, 2)}
    equal_value = equal_class = deals = 0
    for board in combinations_with_replacement(RANKS, 5):
        values: Counter[tuple[int, ...]] = Counter()
        for hole, count in holes.items():
            values[best_of_seven(board + hole, 0)] += count
        # Either player may hold any of these, independently of the other.
        times = orders(board)
        equal_value += times * sum(count**2 for count in values.values())
        equal_class += times * sum(count**2 for count in by_class(values).values())
        deals += times * values.total() ** 2
    assert deals == 13**9
    assert equal_value == 568_659_513
    assert equal_class == 4_026_425_293
    same_boost = Fraction(1, 3) ** 2 + Fraction(2, 3) ** 2
    assert Fraction(equal_value, deals) * same_boost == Fraction(947_765_855, 31_813_498_119)


@pytest.mark.long
def test_the_order_of_seven_cards_changes_nothing() -> None:
    """Each set of cards in some of its orders, with every card at every place."""
    chance = Chance(b"orders")
    for cards in combinations_with_replacement(RANKS, 7):
        value = best_of_seven(cards, 0)
        for turn in range(1, 7):
            assert best_of_seven(cards[turn:] + cards[:turn], 0) == value
        for _ in range(3):
            drawn = sorted(cards, key=lambda _: chance.below(1 << 30))
            assert best_of_seven(drawn, 0) == value
