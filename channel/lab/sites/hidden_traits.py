"""Traits that all legal hidden values have in common, learned from many draws of `Hidden.legal`.

Without rules, nobody says what makes a value illegal. But an author who declares a hidden value
draws legal ones; what is the same in each of very many draws is a rule, and a value in which it is
different is illegal. That holds if `legal` draws every legal value about as often as any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.hidden import Hidden, legal_value

DRAWS = 1024
"""The legal values from which traits are learned."""

OFTEN = 8
"""A byte at a place is rare below so many draws: others may be rarer, and not be drawn at all."""


@dataclass(frozen=True)
class Traits:
    """The traits that all legal values of one length have in common.

    `allowed` has the bytes of each place where all draws together show few different ones, each of
    them often: not those of a salt. `counts` says how often a byte stands at these places, of each
    byte that stands there equally often in all values, and `total` is their sum, if that is always
    the same. `distinct`: no two of these places are ever equal.
    """

    size: int
    allowed: Mapping[int, frozenset[int]]
    counts: Mapping[int, int]
    total: int | None
    distinct: bool

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The places that `allowed` knows, in order."""
        return tuple(sorted(self.allowed))

    def cells(self, value: bytes) -> bytes:
        """The bytes of a value at these places."""
        return bytes(value[place] for place in self.places)

    def with_cells(self, value: bytes, cells: bytes) -> bytes:
        """The value with other bytes at these places."""
        changed = bytearray(value)
        for place, byte in zip(self.places, cells, strict=True):
            changed[place] = byte
        return bytes(changed)

    def broken(self, value: bytes) -> str:
        """The difference of a value of this length from all legal ones; empty if there is none."""
        for place in self.places:
            if value[place] not in self.allowed[place]:
                known = sorted(self.allowed[place])
                return f"byte {place} is {value[place]}, and {_listed(known)} in a legal one"
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
    allowed = {}
    for place, column in enumerate(zip(*values, strict=True)):
        times = Counter(column)
        if min(times.values()) >= OFTEN:
            allowed[place] = frozenset(times)
    traits = Traits(len(values[0]), allowed, {}, None, distinct=False)
    if not allowed:
        return None
    cells = [traits.cells(value) for value in values]
    totals = {sum(some) for some in cells}
    counted = {byte: {some.count(byte) for some in cells} for byte in set().union(*cells)}
    return Traits(
        traits.size,
        allowed,
        {byte: min(times) for byte, times in sorted(counted.items()) if len(times) == 1},
        min(totals) if len(totals) == 1 else None,
        distinct=len(allowed) > 1 and all(len(set(some)) == len(some) for some in cells),
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
