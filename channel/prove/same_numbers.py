"""Where two symbolic values are the same but for the encoding of the numbers in them."""

from __future__ import annotations

from channelsim.channel.lab.sites.values import NUMBER
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Symbol,
    Symbolic,
    as_number,
    conjunction,
    equal,
    name_of,
    same_numbers,
)


def alike(path: Path, left: Symbolic, right: Symbolic) -> Condition:
    """Where two values differ at most in the encoding of numbers that arithmetic has read.

    Raises `Undecided`.
    """
    conditions: list[Condition] = []
    waiting = [(left, right)]
    while waiting:
        mine, theirs = waiting.pop()
        if mine is theirs:
            continue
        mine, theirs = path.shape(mine), path.shape(theirs)
        if isinstance(mine, tuple) and isinstance(theirs, tuple):
            waiting += zip(mine, theirs, strict=True)
        elif isinstance(mine, tuple) or isinstance(theirs, tuple):
            return False
        else:
            conditions.append(_alike(path, path.atom(mine), path.atom(theirs)))
    return conjunction(*conditions)


def _alike(path: Path, left: bytes | Symbol, right: bytes | Symbol) -> Condition:
    same = equal(left, right)
    if not isinstance(left, bytes | Bytes) or not isinstance(right, bytes | Bytes):
        return same
    sizes = _size(left), _size(right)
    if sizes[0] == sizes[1] or max(sizes) > NUMBER:
        return same
    longer = left if sizes[0] > sizes[1] else right
    if name_of(longer) not in path.read_as_numbers:
        return same
    return same_numbers(as_number(left), as_number(right))


def _size(atom: bytes | Bytes) -> int:
    return atom.size if isinstance(atom, Bytes) else len(atom)
