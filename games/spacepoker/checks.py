"""Hand values of the showdown, which proofs leave to real runs: as programs have them, and as
these rules do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement, islice, product

from channelsim.clsp.values import int_to_atom
from channelsim.games.chance import Chance
from channelsim.games.check_cases import compared_values, value_list
from channelsim.games.counting import RANKS, HandValue
from channelsim.games.lemma import Case, Check
from channelsim.games.spacepoker.hands import value_of


def _hands(chance: Chance, first: int) -> Iterator[Case]:
    """All ranks of five cards in each order, without and with the boost, and their values."""
    for *ranks, boost in islice(product(*[RANKS] * 5, (0, 1)), first, None):
        arguments = value_list(tuple(ranks)), int_to_atom(boost)
        yield arguments, value_list(value_of(ranks, boost))


@cache
def _values() -> tuple[HandValue, ...]:
    """The values of all hands, in order."""
    hands = combinations_with_replacement(RANKS, 5)
    return tuple(sorted({value_of(ranks, boost) for ranks in hands for boost in (0, 1)}))


def _pairs(chance: Chance, first: int) -> Iterator[Case]:
    return compared_values(_values(), chance)


CHECKS = (
    Check(
        "the value of five cards",
        "end",
        "hand_value",
        _hands,
        "ranks of five cards in any order, and a boost",
        2 * len(RANKS) ** 5,
    ),
    Check(
        "the better of two hands",
        "end",
        "compare",
        _pairs,
        "values of two hands, of which every second pair are equal or next to each other",
    ),
)
