"""Benchmarks of Space Poker: finding the best five of seven."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from channelsim.games.chance import Chance
from channelsim.games.contract import Benchmark
from channelsim.games.counting import RANKS
from channelsim.games.spacepoker.hands import best_of_seven

HANDS = 20_000


def _best_of_seven() -> Callable[[], int]:
    chance = Chance(b"best of seven")
    hands = [tuple(chance.pick(RANKS) for _ in range(7)) for _ in range(HANDS)]

    def work() -> int:
        for hand in hands:
            best_of_seven(hand, 0)
        return HANDS

    work()  # fill the table: the benchmark measures the warm rate
    return work


def _phevaluator_of_seven() -> Callable[[], int] | None:
    try:
        from phevaluator import evaluate_cards
    except ImportError:
        return None
    chance = Chance(b"seven cards of one pack")
    hands = [chance.draw(range(52), 7) for _ in range(HANDS)]

    def work() -> int:
        for hand in hands:
            evaluate_cards(*hand)
        return HANDS

    return work


BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {"best_of_seven": _best_of_seven, "phevaluator_best_of_seven": _phevaluator_of_seven}
)
"""Benchmarks by name; the second is an evaluator in C on ordinary hands, for comparison."""
