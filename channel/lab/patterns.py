"""States whose lists of numbers stand in a pattern: what chance deals once in a million hands.

A straight flush is a progression, four of a kind are neighbours, and the lab need not know
which: any ascending list of small numbers in a state may hold numbers at equal distances.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random

import msgspec

from channel.lab.spots import Spot, place
from channel.lab.target import Target
from clsp.integers import atom_to_int, int_to_atom
from clsp.values import NotAList, Value, from_list, to_list
from games.errors import BadState

FEWEST = 4
"""A list of fewer numbers is no hand of cards."""

SMALL = 2
"""Its numbers have at most so many bytes."""

STEPS = (1, 1, 2, 3, 4, 4, 4, 5, 8, 13)
"""Distances of the numbers of a pattern."""


def patterned(target: Target, spot: Spot, dice: Random) -> Spot | None:
    """The spot with a pattern in every ascending list of its state; None where it has no such
    list, or where the state's rules do not take these."""
    numbers = [number for found in _lists(spot.state) for number in found]
    if not numbers:
        return None
    modulus = max(numbers) + 1 + int(dice.random() * 3)
    step, start = STEPS[int(dice.random() * len(STEPS))], int(dice.random() * modulus)
    state = _changed(spot.state, step, start, modulus, dice)
    try:
        typed = target.game.validators[spot.validator].read_state(state)
    except BadState:
        return None
    before = msgspec.structs.replace(spot.before, state=typed)
    return place(target, before, spot.play, spot.amount, spot.receiver, natural=False)


def progression(count: int, start: int, step: int, modulus: int, dice: Random) -> list[int]:
    """So many different numbers below `modulus`, ascending, `step` apart but for a few gaps;
    past the modulus it goes on at the other end.

    >>> progression(4, 48, 4, 52, Random(1))
    [0, 4, 8, 48]
    """
    gaps = int(dice.random() * 3) * (dice.random() < 0.7)
    row = [(start + step * place) % modulus for place in range(count + gaps)]
    while len(row) > count:
        del row[int(dice.random() * len(row))]
    chosen = set(row)
    while len(chosen) < min(count, modulus):
        chosen.add(int(dice.random() * modulus))
    return sorted(chosen)


def _ascending(value: Value) -> list[int] | None:
    """The numbers of such a list; None of any other value."""
    try:
        items = from_list(value)
    except NotAList:
        return None
    if len(items) < FEWEST or not all(isinstance(i, bytes) and len(i) <= SMALL for i in items):
        return None
    numbers = [atom_to_int(item) for item in items if isinstance(item, bytes)]
    return numbers if all(low < high for low, high in pairwise(numbers)) else None


def _lists(value: Value) -> list[list[int]]:
    found = _ascending(value)
    if found is not None:
        return [found]
    return [*_lists(value[0]), *_lists(value[1])] if isinstance(value, tuple) else []


def _changed(value: Value, step: int, start: int, modulus: int, dice: Random) -> Value:
    found = _ascending(value)
    if found is not None:
        if dice.random() < 0.3:
            start = int(dice.random() * modulus)
        row = progression(len(found), start, step, modulus, dice)
        return to_list(map(int_to_atom, row))
    if not isinstance(value, tuple):
        return value
    return (
        _changed(value[0], step, start, modulus, dice),
        _changed(value[1], step, start, modulus, dice),
    )
