"""The specification's exact odds, by counting."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import pytest

from channelsim.games.calpoker.hands import CLASSES, ROYAL, best_of_eight, value_of_five
from channelsim.games.counting import RANKS, WEIGHTS, HandValue
from channelsim.games.hand_classes import split

FIVE_OF_52 = {
    "royal flush": 4,
    "straight flush": 36,
    "four of a kind": 624,
    "full house": 3_744,
    "flush": 5_108,
    "straight": 10_200,
    "set": 54_912,
    "two pair": 123_552,
    "pair": 1_098_240,
    "high card": 1_302_540,
}
EIGHT_OF_52 = {
    "royal flush": 64_860,
    "straight flush": 546_480,
    "four of a kind": 2_529_262,
    "full house": 45_652_128,
    "flush": 50_850_320,
    "straight": 67_072_620,
    "set": 38_493_000,
    "two pair": 257_760_900,
    "pair": 236_092_500,
    "high card": 53_476_080,
}


def by_class(values: Counter[HandValue]) -> dict[str, int]:
    classes: Counter[str] = Counter()
    for value, count in values.items():
        name = "royal flush" if value == ROYAL else CLASSES[split(value, CLASSES)[0]][0]
        classes[name] += count
    return dict(classes)


@pytest.mark.long
def test_every_hand_of_five() -> None:
    values = Counter(map(value_of_five, combinations(range(52), 5)))
    assert by_class(values) == FIVE_OF_52
    assert len(values) == 7_462
    assert values.total() == comb(52, 5) == 2_598_960


@pytest.mark.long
def test_best_of_eight_of_every_hand() -> None:
    """752,538,150 hands: one by one those with five cards of a suit, of which one suit stands
    for all four; the others by their ranks, of which each set comes in so many suits."""
    values: Counter[HandValue] = Counter()
    flushes: Counter[int] = Counter()
    spades, rest = range(3, 52, 4), [card for card in range(52) if card % 4 != 3]
    weight = [WEIGHTS[2 + card // 4] for card in range(52)]
    for count in (5, 6, 7, 8):
        for suited in combinations(spades, count):
            key = sum(weight[card] for card in suited)
            for others in combinations(rest, 8 - count):
                values[best_of_eight(suited + others)] += 4
                flushes[key + sum([weight[card] for card in others])] += 4
    for ranks in combinations_with_replacement(RANKS, 8):
        counts = Counter(ranks)
        if max(counts.values()) > 4:
            continue
        ways = prod(comb(4, count) for count in counts.values())
        cards = [4 * (rank - 2) + suit for rank, suit in zip(ranks, _spread(ranks), strict=True)]
        values[best_of_eight(cards)] += ways - flushes[sum(WEIGHTS[rank] for rank in ranks)]
    assert by_class(values) == EIGHT_OF_52
    assert values.total() == comb(52, 8)


def _spread(ranks: tuple[int, ...]) -> list[int]:
    """Suits for these ranks such that no five are alike."""
    taken: Counter[int] = Counter()
    suits: list[int] = []
    for i, rank in enumerate(ranks):
        used = {suit for suit, other in zip(suits, ranks[:i], strict=False) if other == rank}
        suit = min((suit for suit in range(4) if suit not in used), key=lambda suit: taken[suit])
        taken[suit] += 1
        suits.append(suit)
    assert max(taken.values()) < 5
    return suits
