"""Traits that all legal hidden values have in common, learned from many draws of `Hidden.legal`.

Without rules, nobody says what makes a value illegal. But an author who declares a hidden value
draws legal ones; what is the same in each of very many draws is a rule, and a value in which it is
different is illegal. That holds if `legal` draws every legal value about as often as any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations, pairwise

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.hidden import Hidden, legal_value

DRAWS = 1024
"""The legal values from which traits are learned."""

OFTEN = 8
"""A byte at a place is rare below so many draws: others may be rarer, and not be drawn at all."""

WIDEST = 224
"""The bytes of a salt are further apart than this in so many draws; those of a number are not."""

EXTREME = 16
"""The draws that have a number before it is taken for the lowest or the highest."""

EDGES = (0, 0x7F, 0x80, 0xFF)
"""Bytes at which numbers of one byte begin, end or change their sign."""

EXPECTED = 32
"""What independent numbers would do in so many draws, and these never do, they must not do."""


@dataclass(frozen=True)
class Traits:
    """The traits that all legal values of one length have in common.

    `places` are those of its numbers: bytes that are no part of a salt. `allowed` has the bytes of
    each place where all draws together show few different ones, each of them often; `lowest` and
    `highest` bound the numbers of all places, where these bounds are drawn often. `counts` says how
    often a byte stands at the places, of each byte that stands there equally often in all values,
    and `total` is their sum, if that is always the same. `distinct`: no two are ever equal.
    `rising` are pairs of places of which the second always has the greater number.
    """

    size: int
    places: tuple[int, ...]
    allowed: Mapping[int, frozenset[int]]
    counts: Mapping[int, int]
    total: int | None
    distinct: bool
    lowest: int | None = None
    highest: int | None = None
    rising: tuple[tuple[int, int], ...] = ()

    def cells(self, value: bytes) -> bytes:
        """The bytes of a value at these places."""
        return bytes(value[place] for place in self.places)

    def with_cells(self, value: bytes, cells: bytes) -> bytes:
        """The value with other bytes at these places."""
        changed = bytearray(value)
        for place, byte in zip(self.places, cells, strict=True):
            changed[place] = byte
        return bytes(changed)

    def at_a_border(self, value: bytes, places: Sequence[int], chance: FastChance) -> bytes:
        """The value with a number at one of these places changed into one at a border: of all legal
        ones, of signed bytes, or of another number."""
        place, other = chance.pick(places), value[chance.pick(self.places)]
        bounds = [bound for bound in (self.lowest, self.highest) if bound is not None]
        near = [number + step for number in (*bounds, other) for step in (-1, 1)]
        number = chance.pick((*near, *EDGES, other))
        return value[:place] + bytes([number % 256]) + value[place + 1 :]

    def broken(self, value: bytes) -> str:
        """The difference of a value of this length from all legal ones; empty if there is none."""
        for place, known in self.allowed.items():
            if value[place] not in known:
                return (
                    f"byte {place} is {value[place]}, and {_listed(sorted(known))} in a legal one"
                )
        for place in self.places:
            if self.lowest is not None and value[place] < self.lowest:
                return (
                    f"byte {place} is {value[place]}, and never below {self.lowest} in a legal one"
                )
            if self.highest is not None and value[place] > self.highest:
                return f"byte {place} is {value[place]}, and at most {self.highest} in a legal one"
        for place, other in self.rising:
            if value[other] <= value[place]:
                return f"byte {other} is not above byte {place}, and always in a legal one"
        cells = self.cells(value)
        if self.total is not None and sum(cells) != self.total:
            among = f"bytes {_listed(self.places)}"
            return f"the sum of {among} is {sum(cells)}, and always {self.total} in a legal one"
        for byte, times in self.counts.items():
            if cells.count(byte) != times:
                among = f"bytes {_listed(self.places)}"
                return (
                    f"{cells.count(byte)} of {among} are {byte}, and always {times} in a legal one"
                )
        if self.distinct and len(set(cells)) < len(cells):
            return f"two of bytes {_listed(self.places)} are equal, and never in a legal one"
        return ""


def learned(values: Sequence[bytes]) -> Traits | None:
    """The traits of legal values; None if they differ in length, or have nothing in common.

    >>> values = [bytes([at % 2, 1 - at % 2, at % 251]) for at in range(DRAWS)]
    >>> traits = learned(values)
    >>> traits.places, traits.broken(bytes([1, 1, 9]))
    ((0, 1), 'the sum of bytes 0 and 1 is 2, and always 1 in a legal one')
    >>> traits.broken(bytes([1, 0, 9])), learned(values[:100])
    ('', None)
    """
    if len(values) < DRAWS or len({len(value) for value in values}) > 1:
        return None
    columns = list(map(bytes, zip(*values, strict=True)))
    times = {place: Counter(column) for place, column in enumerate(columns)}
    allowed = {
        place: frozenset(known) for place, known in times.items() if min(known.values()) >= OFTEN
    }
    numbers = {place for place, known in times.items() if max(known) - min(known) < WIDEST}
    places = tuple(sorted(numbers | {*allowed}))
    if not places:
        return None
    cells = [bytes(value[place] for place in places) for value in values]
    totals = {sum(some) for some in cells}
    counted = {byte: {some.count(byte) for some in cells} for byte in set().union(*cells)}
    together = sum((times[place] for place in places), Counter[int]())
    lowest, highest = min(together), max(together)
    return Traits(
        len(values[0]),
        places,
        allowed,
        {byte: min(counts) for byte, counts in sorted(counted.items()) if len(counts) == 1},
        min(totals) if len(totals) == 1 else None,
        distinct=all(len(set(some)) == len(some) for some in cells)
        and _equal([times[place] for place in places]) >= EXPECTED,
        lowest=lowest if together[lowest] >= EXTREME else None,
        highest=highest if together[highest] >= EXTREME else None,
        rising=tuple(
            (place, other)
            for place, other in pairwise(places)
            if all(one < two for one, two in zip(columns[place], columns[other], strict=True))
            and _not_rising(times[place], times[other]) >= EXPECTED
        ),
    )


def _equal(columns: Sequence[Counter[int]]) -> float:
    """The draws in which two of these numbers would be equal if they were independent."""
    return sum(
        times * other[byte] / DRAWS
        for one, other in combinations(columns, 2)
        for byte, times in one.items()
    )


def _not_rising(one: Counter[int], other: Counter[int]) -> float:
    """The draws in which the second would not be above the first if they were independent."""
    return sum(
        times * below / DRAWS
        for byte, times in one.items()
        for number, below in other.items()
        if number <= byte
    )


def traits_of(target: Target) -> Sequence[tuple[Hidden, Traits]]:
    """The hidden values of a target whose legal draws have anything in common, with that."""
    if not _last or _last[0][0] is not target:
        known = []
        for hidden in target.hidden:
            chance = Chance(sha256(b"legal values/" + hidden.name.encode()).digest())
            values = [legal_value(target.name, hidden, chance) for _ in range(DRAWS)]
            if (traits := learned(values)) is not None:
                known.append((hidden, traits))
        _last[:] = [(target, known)]
    return _last[0][1]


_last: list[tuple[Target, Sequence[tuple[Hidden, Traits]]]] = []
"""The last target's, since drawing so many values takes longer than a case does."""


def _listed(numbers: Sequence[int]) -> str:
    """Numbers for people: all of a few, of more the first and the last."""
    if len(numbers) > 4:
        return f"{numbers[0]}, {numbers[1]}, … {numbers[-1]}"
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last
