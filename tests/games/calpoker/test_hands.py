"""Values of hands: the rule's examples, the fast lookups, and independent evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phevaluator import evaluate_cards

from channelsim.games.calpoker.hands import (
    CLASSES,
    FIVE_OF_EIGHT,
    best_of_eight,
    best_selection,
    decided_by,
    describe,
    value_of,
    value_of_five,
    value_of_selection,
)
from channelsim.games.cards import card_name
from channelsim.games.chance import Chance
from channelsim.games.counting import HandValue, rank_of, suit_of
from channelsim.games.hand_classes import split

PACK = {
    f"{rank}{suit}": i
    for i, (rank, suit) in enumerate((rank, suit) for rank in "23456789TJQKA" for suit in "cdhs")
}


def pack(text: str) -> tuple[int, ...]:
    return tuple(PACK[name] for name in text.split())


def some_cards(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 51), min_size=count, max_size=count, unique=True)


def close_cards(count: int) -> st.SearchStrategy[list[int]]:
    """Out of few ranks or of two suits: where the good hands are."""
    few = st.lists(st.integers(0, 23), min_size=count, max_size=count, unique=True)
    suited = st.lists(
        st.integers(0, 51).map(lambda card: card & ~2), min_size=count, max_size=count, unique=True
    )
    return few | suited | few.map(lambda cards: [51 - card for card in cards])


@pytest.mark.parametrize(
    ("cards", "value", "name"),
    [
        ("Ts Js Qs Ks As", (5, 14), "royal flush"),
        ("9h 8h 7h 6h 5h", (5, 9), "straight flush, nine high"),
        ("Ad 2d 3d 4d 5d", (5, 5), "straight flush, five high"),
        ("7c 7d 2s 7h 7s", (4, 1, 7, 2), "four of a kind, sevens"),
        ("6c 2d 6h 2s 6s", (3, 2, 6, 2), "full house, sixes over twos"),
        ("Kc 9c 4c 3c 2c", (3, 1, 3, 13, 9, 4, 3, 2), "flush, king high"),
        ("Tc Jd Qh Ks As", (3, 1, 2, 14), "straight, ace high"),
        ("Ac 2d 3h 4s 5s", (3, 1, 2, 5), "straight, five high"),
        ("3c 9d 3h As 3s", (3, 1, 1, 3, 14, 9), "set, threes"),
        ("Kc 4d 9h Ks 4s", (2, 2, 1, 13, 4, 9), "two pair, kings and fours"),
        ("8c 5d Ah Ts 5s", (2, 1, 1, 1, 5, 14, 10, 8), "pair, fives"),
        ("Ac 2d 3h 4s 6s", (1, 1, 1, 1, 1, 14, 6, 4, 3, 2), "high card, ace"),
        ("Kc Ad 2h 3s 4s", (1, 1, 1, 1, 1, 14, 13, 4, 3, 2), "high card, ace"),
    ],
)
def test_the_table_of_hands(cards: str, value: HandValue, name: str) -> None:
    assert value_of(pack(cards)) == value_of_five(pack(cards)) == value
    assert describe(value) == name
    assert " ".join(map(card_name, pack(cards))) == cards


def test_the_classes_stand_in_order() -> None:
    assert sorted(CLASSES, reverse=True) == list(CLASSES)


def test_suits_never_break_a_tie() -> None:
    for cards in ("Ts Js Qs Ks As", "Kc 9c 4c 3c 2c", "2c 3d 4h 5s 6s"):
        turned = tuple(card ^ 1 for card in pack(cards))
        assert value_of(turned) == value_of(pack(cards))


@given(some_cards(5) | close_cards(5))
def test_the_cache_agrees_with_the_rule(cards: list[int]) -> None:
    assert value_of_five(cards) == value_of(cards)


@settings(deadline=None)
@given(some_cards(8) | close_cards(8))
def test_best_of_eight_is_the_best_of_all_selections(cards: list[int]) -> None:
    every = {mask: [cards[i] for i in range(8) if mask >> i & 1] for mask in FIVE_OF_EIGHT}
    best = max(value_of(five) for five in every.values())
    assert best_of_eight(cards) == best
    assert value_of_selection(cards, best_selection(cards)) == best
    assert best_selection(cards) == min(m for m, five in every.items() if value_of(five) == best)


def naive_value(cards: Sequence[int]) -> tuple[int, ...]:
    """The ranking of poker hands, written by somebody who never heard of lists of counts."""
    ranks = sorted((card // 4 + 2 for card in cards), reverse=True)
    flush = all(card % 4 == cards[0] % 4 for card in cards)
    straight = 0
    for top in range(14, 4, -1):
        if set(ranks) == {top, top - 1, top - 2, top - 3, top - 4 if top > 5 else 14}:
            straight = top
    of = {n: [rank for rank in range(14, 1, -1) if ranks.count(rank) == n] for n in (1, 2, 3, 4)}
    if straight and flush:
        return (8, straight)
    if of[4]:
        return (7, *of[4], *of[1])
    if of[3] and of[2]:
        return (6, *of[3], *of[2])
    if flush:
        return (5, *ranks)
    if straight:
        return (4, straight)
    if of[3]:
        return (3, *of[3], *of[1])
    return (len(of[2]), *of[2], *of[1])


def test_eight_cards_by_brute_force() -> None:
    chance = Chance(b"brute force")
    hands = [eight(chance, close) for close in (False, True) for _ in range(400)]
    worth = {hand: max(naive_value(five) for five in combinations(hand, 5)) for hand in hands}
    for one, other in pairwise(hands):
        ours, theirs = best_of_eight(one), best_of_eight(other)
        order = (worth[one] > worth[other]) - (worth[one] < worth[other])
        assert (ours > theirs) - (ours < theirs) == order


def eight(chance: Chance, close: bool, count: int = 8) -> tuple[int, ...]:
    cards = list(range(52) if not close else range(16, 40))
    return tuple(cards.pop(chance.below(len(cards))) for _ in range(count))


@pytest.mark.parametrize("count", [5, 8])
def test_a_large_sample_agrees_with_phevaluator(count: int) -> None:
    """Its ranks, 1 the best, and our values are two names of the same order."""
    chance = Chance(b"phevaluator")
    ours = value_of_five if count == 5 else best_of_eight
    most = min(count, 7)  # it takes no more cards at once
    found: dict[int, HandValue] = {}
    for number in range(5_000):
        cards = eight(chance, number % 3 == 0, count)
        rank = min(evaluate_cards(*some) for some in combinations(cards, most))
        assert found.setdefault(rank, ours(cards)) == ours(cards)
    in_order = [found[rank] for rank in sorted(found)]
    assert all(better > worse for better, worse in pairwise(in_order))


@pytest.mark.long
def test_every_five_card_hand_agrees_with_phevaluator() -> None:
    found: dict[int, HandValue] = {}
    for cards in combinations(range(52), 5):
        value = value_of_five(cards)
        assert found.setdefault(evaluate_cards(*cards), value) == value
    assert sorted(found) == list(range(1, 7463))
    assert all(found[rank] > found[rank + 1] for rank in range(1, 7462))


def test_cards_are_numbered_as_specified() -> None:
    assert [(rank_of(card), 1 + suit_of(card)) for card in range(52)] == [
        (2 + card // 4, 1 + card % 4) for card in range(52)
    ]


@given(some_cards(8) | close_cards(8), some_cards(8) | close_cards(8))
def test_the_tie_break_names_the_first_difference(cards: list[int], others: list[int]) -> None:
    a, b = best_of_eight(cards), best_of_eight(others)
    by = decided_by(max(a, b), min(a, b))
    if split(a, CLASSES)[0] != split(b, CLASSES)[0]:
        assert by.startswith("class: ")
    elif a != b:
        assert " over " in by
        assert not by.startswith(("class", "split"))
    else:
        assert by == "split: equal hands"
