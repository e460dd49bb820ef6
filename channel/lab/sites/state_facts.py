"""Facts about the numbers of a state: their values, and how they stand to each other.

A program that is wrong at the end of a count, for equal numbers or for a sum of zero is right in
all other states. Nothing says which numbers of a game matter, or what they mean: here they have
the places at which they stand in the state's value, with rules and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

from channelsim.channel.lab.sites.values import NUMBER
from channelsim.clsp.values import Value, atom_to_int

Fact: TypeAlias = tuple[str | int, ...]
"""A number at a place and its value, or two places and their difference."""

ITEMS = 6
"""The first items of a list that count as numbers, besides its length."""

MOST = 16
"""The most numbers of a state that are compared with each other."""

EXACT = 64
"""Up to this, each value of a number is a fact of its own; beyond, only its length in bits is."""

COMBINED = 14
"""The most facts of a state of which two and two are looked at together."""


def numbers_of(state: Value) -> list[tuple[str, int]]:
    r"""The numbers of a state by the place of each; of a list its length and its first items, and
    of a longer atom its length.

    >>> numbers_of((b"\x05", ((b"\x01", (b"\x02", b"")), (bytes(40), b""))))
    [('0', 5), ('1#', 2), ('1.0', 1), ('1.1', 2), ('2#', 40)]
    """
    numbers: list[tuple[str, int]] = []
    for at, item in enumerate(_items(state) if isinstance(state, tuple) else [state]):
        parts: list[tuple[str, Value]] = [(f"{at}", item)]
        if isinstance(item, tuple):
            inner = _items(item)
            numbers.append((f"{at}#", len(inner)))
            parts = [(f"{at}.{place}", part) for place, part in enumerate(inner[:ITEMS])]
        for name, part in parts:
            if isinstance(part, bytes):
                long = len(part) > NUMBER
                numbers.append((f"{name}#", len(part)) if long else (name, atom_to_int(part)))
    return numbers


def numbers_at(state: Value, move: bytes, turn: int) -> list[tuple[str, int]]:
    """The numbers of a place, at most `MOST`: those of its state, the move made there if it is
    short, and how many moves came before."""
    numbers = [("turn", turn), *numbers_of(state)][:MOST]
    return [*numbers, ("move", atom_to_int(move))] if len(move) <= NUMBER else numbers


def _items(value: Value) -> list[Value]:
    items = []
    while isinstance(value, tuple):
        item, value = value
        items.append(item)
    return items


class StateFacts:
    """The facts of the states seen so far, which say what is an extreme: the least and the
    greatest number at each place."""

    def __init__(self) -> None:
        self._bounds: dict[tuple[str, str], tuple[int, int]] = {}
        self._ids: dict[Fact, int] = {}

    def of(
        self, validator: str, inside: Sequence[tuple[str, int]], amount: int, share: int
    ) -> tuple[list[int], list[int]]:
        """The facts of these numbers of a place, where a move declares this share; then the
        combinations of two extremes or relations. Each has a number of its own."""
        facts = [self._id((validator, name, _rough(number))) for name, number in inside]
        notable = [
            fact
            for fact, (name, number) in zip(facts, inside, strict=True)
            if self._is_extreme(validator, name, number) or number == 0
        ]
        money = (("share", share), ("amount", amount), ("half", amount // 2))
        related = [self._id(fact) for fact in _relations(validator, (*inside, *money), len(inside))]
        some = [*notable, *related][:COMBINED]
        pairs = [one << 32 | other for one, other in combinations(some, 2)]
        return [*facts, *related], pairs

    def _id(self, fact: Fact) -> int:
        return self._ids.setdefault(fact, len(self._ids) + 1)

    def _is_extreme(self, validator: str, name: str, number: int) -> bool:
        """True for a number that is the least or the greatest at its place so far."""
        least, most = self._bounds.get((validator, name), (number, number))
        self._bounds[validator, name] = min(least, number), max(most, number)
        return number <= least or number >= most


def _rough(number: int) -> int:
    """The number itself if it is small; otherwise one for all of its length and sign."""
    if -EXACT <= number <= EXACT:
        return number
    rough = EXACT + number.bit_length()
    return rough if number > 0 else -rough


def _relations(validator: str, numbers: Sequence[tuple[str, int]], compared: int) -> list[Fact]:
    """The pairs of numbers that are equal or differ by one; each of the first `compared` with all
    after it."""
    return [
        (validator, name, other, number - one)
        for at, (name, number) in enumerate(numbers[:compared])
        for other, one in numbers[at + 1 :]
        if -1 <= number - one <= 1
    ]
