"""Atoms of which only that they are not empty is decided: their lengths, without a fork."""

from __future__ import annotations

import z3

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Lazy,
    Number,
    Symbolic,
    equal,
    resize,
    selected,
    width,
)


def undecided_length(path: Path, value: Symbolic) -> Number | None:
    """The bytes of an atom of which only that it is not empty is decided; None for others."""
    if isinstance(value, Lazy) and path.is_long(value):
        return long_atoms.size_of(value)
    cases = by_length(path, value)
    if cases is None:
        return None
    counts = [atom.size for _, atom in cases]
    bits = width(0, max(counts))
    term = z3.BitVecVal(counts[-1], bits)
    for chosen, atom in reversed(cases[:-1]):
        term = z3.If(chosen, z3.BitVecVal(atom.size, bits), term)
    return Number(resize(term, width(min(counts), max(counts))), min(counts), max(counts))


def by_length(path: Path, value: Symbolic) -> list[tuple[Condition, Bytes]] | None:
    """Every case of an atom of which only that it is not empty is decided; None for others."""
    if not isinstance(value, Lazy) or not value.longer or value.name in path.decided:
        return None
    cases: list[tuple[Condition, Bytes]] = []
    for number, build in enumerate(value.alternatives):
        atom, conditions = build()
        if not isinstance(atom, Bytes) or conditions:
            return None
        cases.append((selected(value, number), atom))
    path.bounded = path.bounded or value.bounded
    return cases


def has_size(path: Path, lazy: Lazy, size: int) -> bool:
    """Decide whether an atom that is not empty has this many bytes, by a fork if it may."""
    if lazy.name in path.decided or not lazy.longer:
        return True  # it is compared as it is
    path.bounded = path.bounded or lazy.bounded
    if lazy.long is not None:
        if not lazy.long.least <= size <= lazy.long.most:
            return False
        return path.branch(selected(lazy, size - lazy.long.least))
    for number, build in enumerate(lazy.alternatives):
        atom = build()[0]
        if not isinstance(atom, Bytes):
            return True
        if atom.size == size:
            return path.branch(selected(lazy, number))
    return False


def same_as_number(path: Path, left: Symbolic, right: Symbolic) -> Condition | None:
    """Where a long atom and a number are the same, which needs no length; None for others."""
    for long, other in ((left, right), (right, left)):
        if not (isinstance(long, Lazy) and isinstance(other, Number) and path.is_long(long)):
            continue
        if long_atoms.has_number(long):
            number = path.number(long)  # decides whether it is in the fewest bytes
            return path.branch(long_atoms.is_minimal(long)) and equal(number, other)
    return None
