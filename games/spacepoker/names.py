"""Hands and cards in words, and by what one hand beats another."""

from __future__ import annotations

from collections.abc import Sequence

from games.cards import RANK_NAMES, plural, rank_text
from games.counting import HandValue

CLASSES: dict[HandValue, tuple[str, tuple[str, ...]]] = {
    (5,): ("five of a kind", ("five of a kind",)),
    (4, 1): ("four of a kind", ("four of a kind", "kicker")),
    (3, 3): ("straight", ("highest card",)),
    (3, 2): ("full house", ("three of a kind", "pair")),
    (3, 1, 1): ("set", ("set", "kicker", "second kicker")),
    (2, 2, 1): ("two pair", ("higher pair", "lower pair", "kicker")),
    (2, 1, 1, 1): ("pair", ("pair", "kicker", "second kicker", "third kicker")),
    (1, 1, 1, 1, 1): (
        "high card",
        ("highest card", "second card", "third card", "fourth card", "fifth card"),
    ),
}
"""The classes of hands, best first: what a value starts with, the class's name, and what each
rank after the boost is called."""


def in_cards(ranks: Sequence[int]) -> str:
    """Several cards, or a dash where there are none."""
    return " ".join(rank_text(rank) for rank in ranks) or "-"


def boost_sign(boost: int) -> str:
    """`+` or `-`."""
    return "+" if boost else "-"


def split(value: HandValue) -> tuple[HandValue, int, tuple[int, ...]]:
    """A value taken apart: what its class starts with, the boost, the ranks.

    >>> split((3, 3, 1, 9))
    ((3, 3), 1, (9,))
    """
    length = next(len(start) for start in CLASSES if value[: len(start)] == start)
    return value[:length], value[length], value[length + 1 :]


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 2, 1, 1, 13, 4, 9))
    'two pair, kings and fours, + boost'
    >>> describe((3, 3, 0, 9))
    'straight, nine high, - boost'
    """
    start, boost, ranks = split(value)
    name, _ = CLASSES[start]
    match name, ranks:
        case "straight", (high,):
            text = f"straight, {RANK_NAMES[high]} high"
        case "full house", (three, pair):
            text = f"full house, {plural(three)} over {plural(pair)}"
        case "two pair", (high, low, _):
            text = f"two pair, {plural(high)} and {plural(low)}"
        case "high card", (high, *_):
            text = f"high card, {RANK_NAMES[high]}"
        case _, (first, *_):
            text = f"{name}, {plural(first)}"
        case _:
            raise ValueError(f"not the value of a hand: {value}")
    return f"{text}, {boost_sign(boost)} boost"


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """By what the first hand beats the second: the class, the boost, or which rank.

    >>> decided_by((3, 3, 0, 9), (2, 2, 1, 1, 13, 4, 9))
    'class: straight over two pair'
    >>> decided_by((2, 2, 1, 1, 5, 4, 9), (2, 2, 1, 0, 13, 4, 9))
    'boost: both two pair, + over -'
    >>> decided_by((2, 2, 1, 1, 13, 4, 9), (2, 2, 1, 1, 13, 4, 7))
    'kicker: nine over seven'
    >>> decided_by((3, 3, 0, 9), (3, 3, 0, 9))
    'split: equal hands'
    """
    start, boost, ranks = split(winner)
    other_start, other_boost, other_ranks = split(loser)
    name, roles = CLASSES[start]
    if start != other_start:
        return f"class: {name} over {CLASSES[other_start][0]}"
    if boost != other_boost:
        return f"boost: both {name}, + over -"
    for role, rank, other in zip(roles, ranks, other_ranks, strict=True):
        if rank != other:
            return f"{role}: {RANK_NAMES[rank]} over {RANK_NAMES[other]}"
    return "split: equal hands"
