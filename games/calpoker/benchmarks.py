"""Benchmarks of California Poker: finding the best five of eight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from types import MappingProxyType

from channelsim.games.calpoker.hands import best_of_eight
from channelsim.games.chance import Chance
from channelsim.games.contract import Benchmark

HANDS = 20_000
HANDS_OF_OTHERS = 2_000


def _best_of_eight() -> Callable[[], int]:
    chance = Chance(b"best of eight")
    hands = [chance.draw(range(52), 8) for _ in range(HANDS)]

    def work() -> int:
        for hand in hands:
            best_of_eight(hand)
        return HANDS

    work()  # fill the table: the benchmark measures the warm rate
    return work


def _phevaluator_of_subsets() -> Callable[[], int] | None:
    """The eight seven-card subsets of each hand, by an evaluator in C."""
    try:
        from phevaluator import evaluate_cards
    except ImportError:
        return None
    chance = Chance(b"best of eight")
    hands = [chance.draw(range(52), 8) for _ in range(HANDS_OF_OTHERS)]

    def work() -> int:
        for hand in hands:
            min(evaluate_cards(*seven) for seven in combinations(hand, 7))
        return HANDS_OF_OTHERS

    return work


BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {"best_of_eight": _best_of_eight, "phevaluator_best_of_eight": _phevaluator_of_subsets}
)
"""Benchmarks by name; the second is an evaluator in C for comparison."""
