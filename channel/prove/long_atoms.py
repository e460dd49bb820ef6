"""Atoms of any length in a wide range, which is decided only where it matters.

A move that is far longer than any in play has many lengths, and one fate. What programs do with it
before they refuse it needs no fork for each: its length is a number, its first bytes are known, and
so is the number that it is read as, as far as comparisons with small ones need it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import z3

from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Lazy,
    Long,
    Number,
    Symbolic,
    Term,
    bits_of,
    make_bytes,
    resize,
    width,
)

HEAD = 512
"""The most bytes at the beginning that have a name of their own."""


Variables = Callable[[str, int], Term]
"""Makes the term of an input with this name, of so many bits."""


def long_atom(name: str, least: int, most: int, selector: Term, variables: Variables) -> Lazy:
    """Any atom of `least` (1 or more) to `most` bytes; the selector is its length less `least`."""
    head = Bytes(variables(name, 8 * min(least, HEAD)), min(least, HEAD))

    def bytes_of(size: int) -> Bytes:
        if size == head.size:
            return head
        rest = 8 * (size - head.size)
        return Bytes(z3.Concat(head.term, variables(f"{name} beyond, of {size}", rest)), size)

    return _lazy(name, Long(least, most, head, _value(name, most)), selector, bytes_of)


def _value(name: str, most: int) -> Term:
    return z3.BitVec(f"the number {name}", 8 * most)


def _lazy(name: str, long: Long, selector: Term, bytes_of: Callable[[int], Bytes]) -> Lazy:
    @cache
    def build(size: int) -> tuple[Symbolic, tuple[Condition, ...]]:
        atom = bytes_of(size)
        return atom, (long.value == resize(atom.term, 8 * long.most),)

    def built(size: int) -> Callable[[], tuple[Symbolic, tuple[Condition, ...]]]:
        return lambda: build(size)

    sizes = range(long.least, long.most + 1)
    return Lazy(name, selector, tuple(map(built, sizes)), longer=True, long=long)


def size_of(lazy: Lazy) -> Number:
    """The length of a long atom."""
    long = lazy.long
    assert long is not None
    bits = max(width(0, long.most), lazy.selector.size() + 1)
    term = resize(lazy.selector, bits) + long.least
    return Number(resize(term, width(long.least, long.most)), long.least, long.most)


def part_of(lazy: Lazy, start: int, end: int | None) -> Bytes | bytes | Lazy | None:
    """A part of a long atom; None where its length has to be decided for that."""
    long: Any = lazy.long
    if end is not None and end <= long.start.size:
        if start >= end:
            return b"" if start == end else None
        high = 8 * (long.start.size - start) - 1
        return make_bytes(
            z3.Extract(high, 8 * (long.start.size - end), bits_of(long.start)), end - start
        )
    if end is not None or start >= long.start.size:
        return None
    if not start:
        return lazy
    name = f"{lazy.name} from {start}"
    head = part_of(lazy, start, long.start.size)
    assert isinstance(head, Bytes)

    def bytes_of(size: int) -> Bytes:
        whole = lazy.alternatives[size + start - long.least]()[0]
        assert isinstance(whole, Bytes)
        return Bytes(z3.simplify(z3.Extract(8 * size - 1, 0, whole.term)), size)

    least, most = long.least - start, long.most - start
    return _lazy(name, Long(least, most, head, _value(name, most)), lazy.selector, bytes_of)


def is_minimal(lazy: Lazy) -> Condition:
    """True where a long atom, of two bytes or more, is a number in the fewest bytes."""
    nine = _first_nine(lazy)
    return z3.And(nine != 0, nine != (1 << 9) - 1)


def is_negative(lazy: Lazy) -> Condition:
    """True where a long atom is a negative number."""
    head: Any = lazy.long and lazy.long.start
    top = 8 * head.size - 1
    return z3.Extract(top, top, head.term) == 1


def _first_nine(lazy: Lazy) -> Term:
    head: Any = lazy.long and lazy.long.start
    top = 8 * head.size - 1
    return z3.Extract(top, top - 8, head.term)


def has_number(lazy: Lazy) -> bool:
    """True if the number of a long atom is known without its length: it has two bytes or more."""
    return lazy.long is not None and lazy.long.start.size > 1


def number_of(lazy: Lazy, minimal: bool, negative: bool) -> Number:
    """The number that a long atom is read as, if it is in the fewest bytes or not, and negative or
    not."""
    long: Any = lazy.long
    largest = 1 << (8 * long.most - 1)
    least, most = (-largest, -1) if negative else (0, largest - 1)
    if minimal:
        beyond = 1 << (8 * (long.least - 1) - 1)
        least, most = (least, -beyond - 1) if negative else (beyond, most)
    return Number(resize(long.value, width(least, most)), least, most)


def within_bounds(lazy: Lazy, number: Number) -> Condition:
    """True where a long atom is a number within the bounds of this one: what its length and its
    first bytes say of it, before these are tied to it."""
    value: Any = lazy.long and lazy.long.value
    return z3.And(value >= number.least, value <= number.most)
