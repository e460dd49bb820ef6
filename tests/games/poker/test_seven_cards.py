"""Exact counts of the best hands of seven cards, in every order (CNT-3 to CNT-5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import pytest

from channelsim.games.poker.ranking import (
    ACE_TO_FIVE,
    ACE_TO_SIX,
    DEUCE_TO_SEVEN,
    EIGHT_LOW,
    HIGH,
    Ranking,
)

Marked = tuple[tuple[int, bool], ...]
"""Cards by rank, 0 for a two; each with whether it is of the suit that five or more have."""


@cache
def groups() -> tuple[tuple[Marked, int], ...]:
    """All hands of seven cards in groups of equal value, with how many are in each."""
    return tuple(_groups())


def _groups() -> Iterator[tuple[Marked, int]]:
    for ranks in combinations_with_replacement(range(13), 7):
        counts = Counter(ranks)
        if max(counts.values()) > 4:
            continue
        left = prod(comb(4, count) for count in counts.values())
        for size in (5, 6, 7):
            for suited in combinations(counts, size):
                hands = 4 * prod(
                    comb(3, count - (rank in suited)) for rank, count in counts.items()
                )
                if hands:
                    left -= hands
                    marked = Counter(suited)
                    yield tuple(_marked(ranks, marked)), hands
        if left:
            yield tuple((rank, False) for rank in ranks), left


def _marked(ranks: tuple[int, ...], suited: Counter[int]) -> Iterator[tuple[int, bool]]:
    for rank in ranks:
        yield rank, suited[rank] > 0
        suited[rank] -= 1


@cache
def key(ranking: Ranking, ranks: tuple[int, ...], flush: bool) -> int:
    """The key of five cards of these ranks, ascending, all of one suit or not."""
    suits = [0 if flush else (ranks[:at].count(rank) + at) % 4 for at, rank in enumerate(ranks)]
    return ranking.key([4 * rank + suit for rank, suit in zip(ranks, suits, strict=True)])


def best(ranking: Ranking, cards: Marked) -> int:
    choose = min if ranking.low else max
    return choose(
        key(ranking, tuple(rank for rank, _ in five), all(suited for _, suited in five))
        for five in combinations(cards, 5)
    )


COUNTS = {
    HIGH: [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584],
    DEUCE_TO_SEVEN: [127355184, 6202240, 219648, 0, 0, 6864, 624, 0, 0],
    ACE_TO_SIX: [127355184, 6202240, 219648, 0, 0, 6864, 624, 0, 0],
    ACE_TO_FIVE: [127615488, 5948800, 219648, 0, 0, 0, 624, 0, 0],
}


@pytest.mark.long
@pytest.mark.parametrize("ranking", COUNTS, ids=lambda one: one.name)
def test_the_best_hands_of_seven_are_counted(ranking: Ranking) -> None:
    found: Counter[int] = Counter()
    for cards, hands in groups():
        found[best(ranking, cards)] += hands
    assert found.total() == 133_784_560
    classes: Counter[int] = Counter()
    tops: Counter[int] = Counter()
    for value, hands in found.items():
        classes[value >> 20] += hands
        tops[value >> 16] += hands
    assert [classes[kind] for kind in range(9)] == COUNTS[ranking]
    if ranking is HIGH:
        assert found[0x8E0000] == 4324
    if ranking is ACE_TO_FIVE:
        assert len(found) == 5083
        lows = {low: hands for low, hands in found.items() if low < EIGHT_LOW}
        assert sum(lows.values()) == 24_530_944
        assert (lows[0x054321], lows[0x087654]) == (781_824, 376_320)
        assert [tops[top] for top in range(5, 14)] == [
            *(781824, 3151360, 7426560, 13171200),
            *(19174400, 23675904, 24837120, 21457920, 13939200),
        ]
