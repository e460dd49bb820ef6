"""Other states at a site, made by the forms of their fields: changed in one part, or in a pattern.

A change stays within the form, so that the reader takes nearly every state that is made: only
fields that do not fit each other, and shapes that an author wrote by hand, may be refused.

Chance deals a pattern once in a million hands: a straight flush is a progression, and four of a
kind are neighbours. The lab does not know which: it fills the ascending lists of a state with
different numbers at equal distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, elsewhere
from channelsim.channel.lab.sites.values import leaves, numbers, with_leaf
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.errors import BadState
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
)

SHORTEST_BYTES = 16
"""An atom of a shape written by hand is taken for a number if it is shorter than this."""


def disturbed(target: Target, site: Site, chance: FastChance) -> Site | None:
    """The site with another amount, or one part of its state changed; None for no state."""
    form = target.game.validators[site.validator].form
    near = numbers(site.state, site.amount)
    fields = len(form.fields) if isinstance(form, Record) else 1
    if chance.below(fields + 1) == fields:
        amount = abs(chance.pick(near))
        return elsewhere(target, site, site.state, amount, site.play, natural=False)
    try:
        state = changed(form, site.before.state, near, chance)
    except BadState:
        return None
    return elsewhere(target, site, state.value(), site.amount, site.play, natural=False)


def changed(form: Form, value: Any, near: Sequence[int], chance: FastChance) -> Any:
    """A value of this form that differs from the given one in one part, if it can.

    Integers become one of `near`, or a bound of the form. The hash of a program stays: a state
    with another one is of another game. Raises `BadState` where a hand-written form refuses it.
    """
    match form:
        case Atom(size):
            return _flipped(value, chance) if size else value
        case Integer(least, most):
            inside = [number for number in near if least <= number <= most]
            return chance.pick((least, most, *inside))
        case ByteIn(values):
            return chance.pick(sorted(values))
        case HashOf():
            return value
        case Pair(first, second):
            if chance.random() < 0.5:
                return changed(first, value[0], near, chance), value[1]
            return value[0], changed(second, value[1], near, chance)
        case Optional(Atom(size)):
            return b"" if value else chance.bytes(size)
        case ListOf():
            return _other_items(form, list(value), near, chance)
        case Record(kind, fields) if fields:
            parts = {name: getattr(value, name) for name, _ in fields}
            name, inner = chance.pick(fields)
            parts[name] = changed(inner, parts[name], near, chance)
            return kind(**parts)
        case Record():
            return value
        case Opaque(write, read):
            return read(_other_leaf(write(value), near, chance), "state")


def _flipped(atom: bytes, chance: FastChance) -> bytes:
    """The atom with one of its bits changed."""
    number = int.from_bytes(atom, "big") ^ (1 << chance.below(8 * len(atom)))
    return number.to_bytes(len(atom), "big")


def _other_items(
    form: ListOf, items: list[Any], near: Sequence[int], chance: FastChance
) -> tuple[Any, ...]:
    """The items with one changed, one left out, or one put in that is like another one."""
    if not items:
        return ()
    at, lot = chance.below(len(items)), chance.random()
    if lot < 0.2 and len(items) > form.least:
        del items[at]
    elif lot < 0.4 and len(items) < form.most:
        items.insert(at, changed(form.form, items[at], near, chance))
    else:
        items[at] = changed(form.form, items[at], near, chance)
    return tuple(sorted(items) if form.ascending else items)


def _other_leaf(value: Value, near: Sequence[int], chance: FastChance) -> Value:
    """The value with one of its atoms changed, as a number if it is short."""
    atoms = list(leaves(value))
    at = chance.below(len(atoms))
    if len(atoms[at]) < SHORTEST_BYTES:
        return with_leaf(value, at, int_to_atom(chance.pick(near)))
    return with_leaf(value, at, _flipped(atoms[at], chance))


STEPS = (1, 2, 2, 3, 4, 4, 4, 4, 5, 8, 13)
"""Distances of the numbers of a pattern."""

REGULAR = tuple(mask for mask in range(256) if not 3 <= (mask ^ mask >> 1).bit_count() <= 5)
"""Masks whose bits stand together, or are nearly every second one."""


def patterned(target: Target, site: Site, chance: FastChance) -> Site | None:
    """The site with a pattern in the ascending lists of its state; None where it has no such
    list, or where its fields do not take these."""
    form, state = target.game.validators[site.validator].form, site.before.state
    if not isinstance(form, Record):
        return None
    fields = dict(form.fields)
    packs = {name: pack for name, inner in fields.items() if (pack := _pack(inner))}
    if not packs:
        return None
    pack = max(packs.values(), key=len)
    values = {name: getattr(state, name) for name in fields}
    count = sum(len(values[name]) for name in packs)
    if count > len(pack):
        return None
    row = _dealt(_row(count, len(pack), chance), len(packs), chance)
    for name in packs:
        numbers, row = row[: len(values[name])], row[len(values[name]) :]
        values[name] = tuple(sorted(pack[number] for number in numbers))
    for name, inner in fields.items():
        masks = [mask for mask in REGULAR if isinstance(inner, ByteIn) and mask in inner.values]
        if masks and chance.random() < 0.5:
            values[name] = chance.pick(masks)
    other = form.kind(**values)
    return elsewhere(target, site, other.value(), site.amount, site.play, natural=False)


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


def _pack(form: Form) -> range | None:
    """The numbers that an ascending list may have; None of any other form."""
    match form:
        case ListOf(Integer(least, most), ascending=True):
            return range(least, most + 1)
    return None
