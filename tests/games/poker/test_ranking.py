"""Rankings of hands: exact counts, and orders as other evaluators have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, pairwise, product
from math import comb

import pytest
from phevaluator.evaluator import evaluate_cards
from phevaluator.evaluator_omaha import evaluate_omaha_cards
from pokerkit import Card, RegularLowHand, StandardLowHand

from channelsim.games.chance import Chance
from channelsim.games.poker.ranking import (
    ACE_TO_FIVE,
    ACE_TO_SIX,
    DEUCE_TO_SEVEN,
    EIGHT_LOW,
    HIGH,
    Ranking,
)

RANKINGS = [HIGH, DEUCE_TO_SEVEN, ACE_TO_SIX, ACE_TO_FIVE]
each_ranking = pytest.mark.parametrize("ranking", RANKINGS, ids=lambda one: one.name)


def eight_low(cards: Sequence[int]) -> int | None:
    """The key of a low hand, eight or better; None if the cards do not qualify (EVAL-6)."""
    key = ACE_TO_FIVE.key(cards)
    return key if key < EIGHT_LOW else None


def of_all(own: Sequence[int], board: Sequence[int] = ()) -> Iterable[Sequence[int]]:
    """The selections of five cards out of own and shared ones (HOLD-1)."""
    return combinations((*own, *board), 5)


def two_and_three(own: Sequence[int], board: Sequence[int]) -> Iterable[Sequence[int]]:
    """The selections of two own and three shared cards (OMA-1, OMA-2)."""
    return ((*mine, *shared) for mine in combinations(own, 2) for shared in combinations(board, 3))


@cache
def kinds(size: int = 5) -> tuple[tuple[tuple[int, ...], int], ...]:
    """One hand of each kind: its ranks, and whether it is suited; with the number of such hands."""
    return tuple(_kinds(size))


def _kinds(size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    for ranks in combinations_with_replacement(range(13), size):
        counts = Counter(ranks)
        if max(counts.values()) > 4:
            continue
        hands = 1
        for count in counts.values():
            hands *= comb(4, count)
        seen: Counter[int] = Counter()
        cards = []
        for number, rank in enumerate(ranks):
            suit = seen[rank] if len(counts) < size else number % 2
            cards.append(4 * rank + suit)
            seen[rank] += 1
        if len(counts) == size:
            yield tuple(4 * rank for rank in ranks), 4
            hands -= 4
        yield tuple(cards), hands


def cards_of(text: str) -> list[int]:
    return [
        4 * "23456789TJQKA".index(text[at]) + "cdhs".index(text[at + 1])
        for at in range(0, len(text), 2)
    ]


COUNTS = {
    "high": [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40],
    "deuce to seven": [1303560, 1098240, 123552, 54912, 9180, 5112, 3744, 624, 36],
    "ace to six": [1303560, 1098240, 123552, 54912, 9180, 5112, 3744, 624, 36],
    "ace to five": [1317888, 1098240, 123552, 54912, 0, 0, 3744, 624, 0],
}
VALUES = {"high": 7462, "deuce to seven": 7462, "ace to six": 7462, "ace to five": 6175}


@each_ranking
def test_the_counts_of_every_class_are_exact(ranking: Ranking) -> None:
    found: Counter[int] = Counter()
    keys = set()
    for cards, hands in kinds():
        key = ranking.key(cards)
        found[key >> 20] += hands
        keys.add(key)
    assert [found[kind] for kind in range(9)] == COUNTS[ranking.name]
    assert sum(found.values()) == 2_598_960
    assert len(keys) == VALUES[ranking.name]
    assert max(keys) < 1 << 24


def test_the_high_order_is_that_of_another_evaluator() -> None:
    found = {(HIGH.key(cards), evaluate_cards(*cards)) for cards, _ in kinds()}
    ordered = sorted(found)
    theirs = [value for _, value in ordered]
    assert len(ordered) == 7462
    assert theirs == sorted(theirs, reverse=True)


def renamed(card: int) -> int:
    """The ace as a two, a two as a three, and so on (LOW-6)."""
    return (card + 4) % 52


def pokerkit_cards(cards: tuple[int, ...]) -> str:
    return "".join("23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in cards)


@pytest.mark.parametrize("ranking", [DEUCE_TO_SEVEN, ACE_TO_FIVE, ACE_TO_SIX])
def test_the_low_orders_are_those_of_another_library(ranking: Ranking) -> None:
    """Every 15th kind of hand, in the order of our keys: theirs never falls back."""
    other = RegularLowHand if ranking is ACE_TO_FIVE else StandardLowHand
    sample = sorted((ranking.key(cards), cards) for cards, _ in kinds()[::15])
    made = []
    for key, cards in sample:
        theirs = tuple(map(renamed, cards)) if ranking is ACE_TO_SIX else cards
        made.append((key, other(list(Card.parse(pokerkit_cards(theirs))))))
    for (key, hand), (next_key, next_hand) in pairwise(made):
        assert (hand == next_hand) if key == next_key else (hand > next_hand)


def test_lows_of_eight_or_better_are_counted() -> None:
    lows = Counter({eight_low(cards): 0 for cards, _ in kinds()})
    for cards, hands in kinds():
        lows[eight_low(cards)] += hands
    lows.pop(None)
    assert len(lows) == 56
    assert set(lows.values()) == {1024}
    masks = {sum(1 << (key >> shift & 15) for shift in range(0, 20, 4)): key for key in lows if key}
    assert [masks[mask] for mask in sorted(masks)] == sorted(masks.values())


def test_rows_of_three_cards_are_counted() -> None:
    found: Counter[int] = Counter()
    keys = set()
    for cards in combinations(range(52), 3):
        key = HIGH.key(cards)
        found[key >> 20] += 1
        keys.add(key)
    assert found == {0: 18304, 1: 3744, 3: 52}
    assert len(keys) == 455


@pytest.mark.parametrize(("size", "values"), [(1, 13), (2, 91), (3, 455), (4, 1820)])
def test_boards_of_up_cards_have_no_straights_or_flushes(size: int, values: int) -> None:
    for ranking in (HIGH, ACE_TO_FIVE):
        keys = {
            ranking.key([4 * rank + ranks[:at].count(rank) for at, rank in enumerate(ranks)])
            for ranks in combinations_with_replacement(range(13), size)
        }
        assert len(keys) == values


@pytest.mark.parametrize(
    ("hand", "keys"),
    [
        ("5c4d3h2sAc", (0x450000, 0x054321, 0x450000, 0x0E5432)),
        ("AcKdQhJsTc", (0x4E0000, 0x0DCBA1, 0x0DCBA1, 0x4E0000)),
        ("AcKcQcJcTc", (0x8E0000, 0x0DCBA1, 0x5DCBA1, 0x8E0000)),
        ("AcKdQhJs9c", (0x0EDCB9, 0x0DCB91, 0x0DCB91, 0x0EDCB9)),
    ],
)
def test_known_keys(hand: str, keys: tuple[int, ...]) -> None:
    cards = cards_of(hand)
    assert tuple(one.key(cards) for one in (HIGH, ACE_TO_FIVE, ACE_TO_SIX, DEUCE_TO_SEVEN)) == keys


def test_the_smaller_key_wins_low() -> None:
    better, worse = cards_of("8c6d5h4s3c"), cards_of("8c7d4h3s2c")
    for ranking in (ACE_TO_FIVE, ACE_TO_SIX, DEUCE_TO_SEVEN):
        assert ranking.better(ranking.key(better), ranking.key(worse)) == 1
        assert ranking.better(ranking.key(worse), ranking.key(better)) == -1
    assert HIGH.better(HIGH.key(better), HIGH.key(worse)) == -1
    assert HIGH.better(5, 5) == 0


def test_the_best_of_seven_is_the_best_selection() -> None:
    board = cards_of("5c5d5hKs7c")
    kicker, _ = HIGH.best(of_all(cards_of("AcKd"), board))
    other, _ = HIGH.best(of_all(cards_of("Kc3d"), board))
    assert kicker == other == 0x65D000
    own = cards_of("AcAdAhAs")
    shared = cards_of("2c3d4h5s9c")
    key, chosen = HIGH.best(two_and_three(own, shared))
    assert key == 0x1E9540
    assert len(set(chosen) & set(own)) == 2
    assert all(eight_low(cards) is None for cards in two_and_three(own, shared))


def test_the_best_of_seven_is_that_of_another_evaluator() -> None:
    chance = Chance(b"seven cards")
    hands = []
    for _ in range(150):
        cards = sorted(range(52), key=lambda _: chance.below(1 << 30))[:7]
        hands.append((HIGH.best(of_all(cards))[0], evaluate_cards(*cards)))
    for (key, theirs), (other, their_other) in product(hands[:40], hands):
        assert HIGH.better(key, other) == (their_other > theirs) - (their_other < theirs)


def test_the_best_of_omaha_is_that_of_another_evaluator() -> None:
    chance = Chance(b"omaha")
    found = []
    for _ in range(150):
        cards = sorted(range(52), key=lambda _: chance.below(1 << 30))[:9]
        board, own = cards[:5], cards[5:]
        key, _ = HIGH.best(two_and_three(own, board))
        found.append((key, evaluate_omaha_cards(*board, *own)))
    for (key, theirs), (other, their_other) in pairwise(sorted(found)):
        assert HIGH.better(other, key) == (theirs > their_other) - (theirs < their_other)
