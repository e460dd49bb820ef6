"""Names of the classes of poker hands, and of the card that decides between two of a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from channelsim.games.cards import RANK_NAMES, plural
from channelsim.games.counting import HandValue

Classes: TypeAlias = Mapping[HandValue, tuple[str, tuple[str, ...]]]
"""A game's classes of hands, best first: what a value starts with, the name of the class, and
what each rank in the value is called."""

HIGH_CARDS = ("highest card", "second card", "third card", "fourth card", "fifth card")

FOUR_OF_A_KIND = "four of a kind", ("four of a kind", "kicker")
FULL_HOUSE = "full house", ("three of a kind", "pair")
FLUSH = "flush", HIGH_CARDS
STRAIGHT = "straight", ("highest card",)
SET = "set", ("set", "kicker", "second kicker")
TWO_PAIR = "two pair", ("higher pair", "lower pair", "kicker")
PAIR = "pair", ("pair", "kicker", "second kicker", "third kicker")
HIGH_CARD = "high card", HIGH_CARDS


def split(value: HandValue, classes: Classes) -> tuple[HandValue, tuple[int, ...]]:
    """Split a value into what its class starts with, and the rest.

    >>> split((2, 2, 1, 13, 4, 9), {(3, 2): FULL_HOUSE, (2, 2, 1): TWO_PAIR})
    ((2, 2, 1), (13, 4, 9))
    """
    start = next(start for start in classes if value[: len(start)] == start)
    return start, value[len(start) :]


def describe(value: HandValue, classes: Classes) -> str:
    """A hand by name, if nothing stands between its class and its ranks."""
    start, ranks = split(value, classes)
    return hand_name(classes[start][0], ranks)


def decided_by(winner: HandValue, loser: HandValue, classes: Classes) -> str:
    """The reason why the first hand beats the second: the class, or a rank.

    >>> classes = {(3, 2): FULL_HOUSE, (2, 2, 1): TWO_PAIR}
    >>> decided_by((3, 2, 6, 9), (2, 2, 1, 13, 4, 9), classes)
    'class: full house over two pair'
    >>> decided_by((2, 2, 1, 13, 4, 9), (2, 2, 1, 13, 4, 7), classes)
    'kicker: nine over seven'
    """
    (start, ranks), (other, others) = split(winner, classes), split(loser, classes)
    name, roles = classes[start]
    if start != other:
        return f"class: {name} over {classes[other][0]}"
    return deciding_rank(roles, ranks, others)


def hand_name(name: str, ranks: Sequence[int]) -> str:
    """A hand of a named class with the ranks that matter first.

    >>> hand_name("two pair", (13, 4, 9)), hand_name("straight", (9,)), hand_name("set", (6, 3, 2))
    ('two pair, kings and fours', 'straight, nine high', 'set, sixes')
    """
    match name, ranks:
        case (("straight" | "straight flush" | "flush"), (high, *_)):
            return f"{name}, {RANK_NAMES[high]} high"
        case "full house", (three, pair):
            return f"{name}, {plural(three)} over {plural(pair)}"
        case "two pair", (high, low, _):
            return f"{name}, {plural(high)} and {plural(low)}"
        case "high card", (high, *_):
            return f"{name}, {RANK_NAMES[high]}"
        case _:
            return f"{name}, {plural(ranks[0])}"


def deciding_rank(roles: Sequence[str], winner: Sequence[int], loser: Sequence[int]) -> str:
    """The first rank in which two hands of one class differ.

    >>> deciding_rank(("pair", "kicker"), (6, 9), (6, 7))
    'kicker: nine over seven'
    """
    for role, rank, other in zip(roles, winner, loser, strict=True):
        if rank != other:
            return f"{role}: {RANK_NAMES[rank]} over {RANK_NAMES[other]}"
    return "split: equal hands"
