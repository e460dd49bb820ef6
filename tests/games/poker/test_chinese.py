"""Chinese Poker against a second scorer, and the rows that are known."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from phevaluator.evaluator import evaluate_cards

from channelsim.games.chance import Chance
from channelsim.games.poker.arranging import MOST_POINTS, arranged, payment, points
from channelsim.games.poker.ranking import HIGH
from tests.games.poker.test_ranking import cards_of

WORST = 7462
"""The other evaluator's number for 7-5-4-3-2; 1 is a royal flush."""


def rows(text: str) -> list[int]:
    return cards_of(text.replace(" ", ""))


def second_score(one: list[int], other: list[int]) -> int:
    """The points, from another evaluator's numbers and rows of three as multisets of ranks."""

    def strength(cards: list[int]) -> list[tuple[int, ...]]:
        return [three(cards[:3]), five(cards[3:8]), five(cards[8:])]

    def three(cards: list[int]) -> tuple[int, ...]:
        counts = Counter(card // 4 for card in cards)
        ranked = sorted(((count, rank) for rank, count in counts.items()), reverse=True)
        return (ranked[0][0], *(rank for _, rank in ranked))

    def five(cards: list[int]) -> tuple[int, ...]:
        return (WORST - evaluate_cards(*cards),)

    def royal(row: int, cards: list[int]) -> int:
        if row == 0:
            return 2 if len({card // 4 for card in cards}) == 1 else 0
        value = int(evaluate_cards(*cards))
        if value <= 10:
            return 4
        if value <= 166:
            return 3
        return 1 if value <= 322 and row == 1 else 0

    def foul(cards: list[int]) -> bool:
        _, middle, bottom = strength(cards)
        return bottom < middle or HIGH.key(cards[3:8]) < HIGH.key(cards[:3])

    parts = [(0, 3), (3, 8), (8, 13)]
    if foul(one) or foul(other):
        if foul(one) and foul(other):
            return 0
        winner, sign = (other, -1) if foul(one) else (one, 1)
        royalties = sum(royal(row, winner[a:b]) for row, (a, b) in enumerate(parts))
        return sign * (4 + royalties)
    score = 0
    results: list[int] = []
    for row, (a, b) in enumerate(parts):
        ours, theirs = strength(one)[row], strength(other)[row]
        result = (ours > theirs) - (ours < theirs)
        results.append(result)
        score += result + (royal(row, one[a:b]) if result > 0 else 0)
        score -= royal(row, other[a:b]) if result < 0 else 0
    return score + (results.count(1) >= 2) - (results.count(-1) >= 2)


def sorted_rows(cards: list[int]) -> list[int]:
    """A simple legal arrangement, most of the time: the best five for the bottom, and so on."""
    _, bottom = HIGH.best(combinations(cards, 5))
    left = [card for card in cards if card not in bottom]
    _, middle = HIGH.best(combinations(left, 5))
    return [*(card for card in left if card not in middle), *middle, *bottom]


def test_two_scorers_agree() -> None:
    chance = Chance(b"chinese")
    seen: Counter[int] = Counter()
    for number in range(60):
        deck = sorted(range(52), key=lambda _: chance.below(1 << 30))
        one, other = deck[:13], deck[13:26]
        if number % 4:
            one, other = sorted_rows(one), sorted_rows(other)
        found = points(arranged(one), arranged(other))
        assert found == second_score(one, other) == -points(arranged(other), arranged(one))
        assert abs(found) <= MOST_POINTS
        seen[found] += 1
    assert len(seen) > 5


@pytest.mark.parametrize(
    ("hand", "foul"),
    [
        ("AcKdQh AsKhQdJs9c 2c2d2h3s3c", False),
        ("AcKdQh AsKhJdTs9c 2c2d2h3s3c", True),
        ("AcAdKh AsAhKd3s2c 2d2h2s3c3d", False),
        ("AcAdKh AsAhQdJsTc 2d2h2s3c3d", True),
        ("2c2d2h 5s5h4d4sAc 3d3h3s6c6d", True),
        ("Ac2c3c AsKhQdJs9c 4c4d4h5s5c", False),
        ("2c3d4h AsKhQdJs9c AhKcQsJd9h", False),  # equal rows are legal
    ],
)
def test_fouls(hand: str, foul: bool) -> None:
    assert arranged(rows(hand)).foul is foul


def test_the_most_points() -> None:
    best = arranged(rows("2c2d2h 3c4c5c6c7c 8dTdJdQd9d"))
    worst = arranged(rows("3d4h7s AhKs8hTh9s AsAdKd8c5h"))
    assert not best.foul
    assert not worst.foul
    assert (points(best, worst), points(worst, best)) == (MOST_POINTS, -MOST_POINTS)


def test_a_foul_loses_every_row_and_the_other_side_s_royalties() -> None:
    best = arranged(rows("2c2d2h 3c4c5c6c7c 8dTdJdQd9d"))
    foul = arranged(rows("AcAdAh KsQs9s7s5d JcTc8c6d4d"))
    assert foul.foul
    assert points(best, foul) == 4 + 2 + 4 + 4
    assert points(foul, foul) == 0


def test_a_payment_is_at_most_the_stake() -> None:
    assert [payment(won, 10, 100) for won in (0, 4, -4, 14, -14)] == [0, 40, -40, 100, -100]


@pytest.mark.long
def test_the_legal_arrangements_of_one_hand_are_counted() -> None:
    hand = rows("AsAhKdKcQsJsTs9d9h5c4c3c2s")
    legal = 0
    for top in combinations(hand, 3):
        left = [card for card in hand if card not in top]
        for middle in combinations(left, 5):
            bottom = [card for card in left if card not in middle]
            legal += not arranged([*top, *middle, *bottom]).foul
    assert legal == 20_510
