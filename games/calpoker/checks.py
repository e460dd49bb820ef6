"""Hand values of the showdown, which proofs leave to real runs: as programs have them, and as
these rules do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, combinations_with_replacement, islice
from math import comb

from channelsim.games.calpoker.deal import PACK
from channelsim.games.calpoker.hands import value_of, value_of_ranks
from channelsim.games.chance import Chance
from channelsim.games.check_cases import compared_values, in_an_order, value_list
from channelsim.games.counting import RANKS, HandValue
from channelsim.games.lemma import Case, Check

HAND = 5


def _hands(chance: Chance, first: int) -> Iterator[Case]:
    """All hands of five cards, each in one order, and their values."""
    for cards in islice(combinations(range(PACK), HAND), first, None):
        ordered = in_an_order(cards, chance)
        yield (value_list(ordered),), value_list(value_of(ordered))


@cache
def _values() -> tuple[HandValue, ...]:
    """The values of all hands, in order."""
    hands = [ranks for ranks in combinations_with_replacement(RANKS, HAND) if len(set(ranks)) > 1]
    flushes = combinations(RANKS, HAND)
    values = {value_of_ranks(ranks, flush=False) for ranks in hands}
    return tuple(sorted(values | {value_of_ranks(ranks, flush=True) for ranks in flushes}))


def _pairs(chance: Chance, first: int) -> Iterator[Case]:
    return compared_values(_values(), chance)


CHECKS = (
    Check(
        "the value of five cards",
        "e",
        "hand_value",
        _hands,
        "hands of five cards, each in an order that is drawn",
        comb(PACK, HAND),
    ),
    Check(
        "the better of two hands",
        "e",
        "compare",
        _pairs,
        "values of two hands, of which every second pair are equal or next to each other",
    ),
)
