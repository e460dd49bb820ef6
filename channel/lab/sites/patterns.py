"""States whose lists of numbers form a pattern, which chance deals once in a million hands.

A straight flush is a progression, and four of a kind are neighbours. The lab does not know which:
it fills the ascending lists of a state with different numbers at equal distances.
"""

from __future__ import annotations

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, elsewhere
from channelsim.channel.lab.targets.target import Target
from channelsim.games.forms import ByteIn, Form, Integer, ListOf, Record

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
