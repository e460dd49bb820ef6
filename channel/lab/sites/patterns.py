"""States whose lists of numbers form a pattern, which chance deals once in a million hands.

A straight flush is a progression, and four of a kind are neighbours. The lab does not know which:
it fills the ascending lists of small numbers in a state with different numbers at equal distances.
"""

from __future__ import annotations

from itertools import pairwise

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.target.target import Target
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.values import NotAList, Value, from_list, to_list
from channelsim.games.errors import BadState

FEWEST = 4
"""The fewest numbers of a list that may be a hand of cards."""

SMALL = 2
"""The most bytes of its numbers."""

STEPS = (1, 2, 2, 3, 4, 4, 4, 4, 5, 8, 13)
"""Distances of the numbers of a pattern."""

REGULAR = tuple(
    tuple(
        bytes([mask])
        for mask in range(256)
        if mask.bit_count() == bits and not 3 <= (mask ^ mask >> 1).bit_count() <= 5
    )
    for bits in range(9)
)
"""Masks whose bits stand together, or are nearly every second one, by their number of bits."""


def patterned(target: Target, site: Site, chance: FastChance) -> Site | None:
    """The site with a pattern in the ascending lists of its state; None where it has no such
    list, or where the state's rules do not take these."""
    lists = _lists(site.state)
    if not lists:
        return None
    modulus = max(map(max, lists)) + 1 + chance.below(3)
    count = sum(map(len, lists))
    if modulus < count:
        return None
    state, _ = _changed(site.state, _dealt(_row(count, modulus, chance), len(lists), chance))
    for at, atom in enumerate(leaves(site.state)):
        # A number beyond the lists is one of bits, if it is anything known.
        others = REGULAR[atom[0].bit_count()] if len(atom) == 1 else ()
        if others and atom[0] > modulus and chance.random() < 0.5:
            state = with_leaf(state, at, chance.pick(others))
    try:
        typed = target.game.validators[site.validator].read_state(state)
    except BadState:
        return None
    before = msgspec.structs.replace(site.before, state=typed)
    return make_site(target, before, site.play, site.amount, site.receiver, natural=False)


def progression(count: int, start: int, step: int, modulus: int, taken: set[int]) -> list[int]:
    """A row of numbers below `modulus`, `step` apart; past the modulus it goes on at the other
    end, and where a number is taken, with the next one.

    >>> progression(5, 44, 4, 52, set())
    [44, 48, 0, 4, 8]
    >>> progression(4, 0, 26, 52, {1})
    [0, 26, 2, 28]
    """
    row: list[int] = []
    number = start
    for _ in range(count):
        while number in taken or number in row:
            number = (number + 1) % modulus
        row.append(number)
        number = (number + step) % modulus
    return row


def _row(count: int, modulus: int, chance: FastChance) -> list[int]:
    """Different numbers: one progression, or two neighbouring ones, with a few left out."""
    step, start = chance.pick(STEPS), chance.below(modulus)
    spare = min(chance.below(4), modulus - count)
    first = count if chance.random() < 0.5 else count // 2
    if (room := modulus - first * step) > 0 and chance.random() < 0.5:
        start %= room  # without going past the end
    row = progression(first, start, step, modulus, set())
    start += 1 + chance.below(4)
    row += progression(count + spare - first, start % modulus, step, modulus, set(row))
    for _ in range(spare):
        del row[chance.below(len(row))]
    return row


def _dealt(row: list[int], lists: int, chance: FastChance) -> list[int]:
    """The numbers in the order in which the lists take them: in blocks, in turn, or mixed."""
    lot = chance.random()
    if lot < 0.3:
        return row
    if lot < 0.6:
        return [number for at in range(lists) for number in row[at::lists]]
    return chance.shuffled(row)


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


def _changed(value: Value, row: list[int]) -> tuple[Value, list[int]]:
    """The value with its lists made of the first numbers of the row, and the rest of the row."""
    found = _ascending(value)
    if found is not None:
        return to_list(map(int_to_atom, sorted(row[: len(found)]))), row[len(found) :]
    if not isinstance(value, tuple):
        return value, row
    left, row = _changed(value[0], row)
    right, row = _changed(value[1], row)
    return (left, right), row
