"""Values of hands: the rule's examples, the fast lookups against it, names and tie-breaks."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.games.counting import RANKS
from channelsim.games.spacepoker.hands import (
    CLASSES,
    FIVE_OF_SEVEN,
    best_of_seven,
    best_selection,
    decided_by,
    describe,
    split,
    value_of,
    value_of_five,
    value_of_selection,
)

seven_cards = st.lists(st.integers(2, 14), min_size=7, max_size=7)
boosts = st.integers(0, 1)


@pytest.mark.parametrize(
    ("ranks", "value", "name"),
    [
        ((7, 7, 7, 7, 7), (5, 0, 7), "five of a kind, sevens"),
        ((7, 7, 2, 7, 7), (4, 1, 0, 7, 2), "four of a kind, sevens"),
        ((10, 11, 12, 13, 14), (3, 3, 0, 14), "straight, ace high"),
        ((4, 3, 2, 5, 6), (3, 3, 0, 6), "straight, six high"),
        ((6, 2, 6, 2, 6), (3, 2, 0, 6, 2), "full house, sixes over twos"),
        ((3, 9, 3, 14, 3), (3, 1, 1, 0, 3, 14, 9), "set, threes"),
        ((13, 4, 9, 13, 4), (2, 2, 1, 0, 13, 4, 9), "two pair, kings and fours"),
        ((8, 5, 14, 10, 5), (2, 1, 1, 1, 0, 5, 14, 10, 8), "pair, fives"),
        ((14, 2, 3, 4, 5), (1, 1, 1, 1, 1, 0, 14, 5, 4, 3, 2), "high card, ace"),
    ],
)
def test_the_table_of_hands(ranks: tuple[int, ...], value: tuple[int, ...], name: str) -> None:
    assert value_of(ranks, 0) == value
    assert describe(value) == f"{name}, no boost"
    assert describe(value_of(ranks, 1)) == f"{name}, + boost"


def test_the_classes_stand_in_order() -> None:
    assert sorted(CLASSES, reverse=True) == list(CLASSES)


def test_the_boost_decides_only_within_a_class() -> None:
    values = [value_of(ranks, 0) for ranks in combinations_with_replacement(RANKS, 5)]
    lowest = {split(value)[0]: value for value in sorted(values, reverse=True)}
    highest = {split(value)[0]: value for value in sorted(values)}
    order = list(CLASSES)
    for better, worse in pairwise(order):
        start, _, ranks = split(highest[worse])
        assert lowest[better] > (*start, 1, *ranks)
    for start in order:
        boosted = (*start, 1, *split(lowest[start])[2])
        assert boosted > highest[start]


@given(seven_cards, boosts)
def test_best_of_seven_is_the_best_of_all_selections(cards: list[int], boost: int) -> None:
    every = {mask: [cards[i] for i in range(7) if mask >> i & 1] for mask in FIVE_OF_SEVEN}
    best = max(value_of(five, boost) for five in every.values())
    assert best_of_seven(cards, boost) == best
    mask, value = best_selection(tuple(cards), boost)
    assert value_of(every[mask], boost) == value == best
    assert mask == min(m for m, five in every.items() if value_of(five, boost) == best)
    assert value_of_selection(cards, mask, boost) == best


@given(seven_cards, boosts)
def test_the_cache_agrees_with_the_rule(cards: list[int], boost: int) -> None:
    for five in combinations(cards, 5):
        assert value_of_five(five, boost) == value_of(five, boost)


@given(seven_cards, boosts, seven_cards, boosts)
def test_the_tie_break_names_the_first_difference(
    cards: list[int], boost: int, others: list[int], other_boost: int
) -> None:
    a, b = best_of_seven(cards, boost), best_of_seven(others, other_boost)
    by = decided_by(max(a, b), min(a, b))
    (start, sign, ranks), (other_start, other_sign, other_ranks) = split(a), split(b)
    if start != other_start:
        assert by.startswith("class: ")
    elif sign != other_sign:
        assert by.startswith("boost: ")
    elif ranks != other_ranks:
        assert " over " in by
        assert not by.startswith(("class", "boost", "split"))
    else:
        assert by == "split: equal hands"
