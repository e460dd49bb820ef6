"""Words of a program: its constants, the lengths it compares and cuts at, and evidence from both.

A program that compares `(strlen evidence)` has that length as a constant; one that looks for a
certain value has the value. Both are among the atoms of the program, with some noise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import cycle, islice
from operator import itemgetter
from typing import TypeAlias

from channelsim.channel.lab.sites.commitments import LONGEST as LONGEST_HEAD
from channelsim.channel.lab.sites.commitments import SHORTEST as SHORTEST_HEAD
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.values import NUMBER, leaves
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, NotAList, Value, from_list, serialize, to_list

Written: TypeAlias = tuple[Value, bytes]
"""A value, and its serialization."""

WORD = 40
"""Longer atoms of a program are code or tables, and no words."""

LONGEST = 128
"""The longest evidence, in bytes, that is made because the program has its length as a constant."""

_QUOTE, _SUBSTR, _STRLEN = b"\x01", b"\x0c", b"\x0d"
_COMPARING = (b"\x09", b"\x0a", b"\x15")


@lru_cache(maxsize=64)
def words_of(program: Program) -> tuple[bytes, ...]:
    """The atoms that the program has in it, as a dictionary: its constants, and some noise.

    >>> words_of(Program(bytes.fromhex("ff10ff02ffff018203e880")))
    (b'', b'\\x01', b'\\x02', b'\\x03\\xe8', b'\\x10')
    """
    return tuple(sorted({atom for atom in leaves(program.value) if len(atom) <= WORD}))


@lru_cache(maxsize=64)
def long_constants(program: Program) -> tuple[bytes, ...]:
    """The quoted atoms of several bytes, which chance does not find.

    >>> long_constants(Program(bytes.fromhex("ff09ff02ffff018401020304ffff010580")))
    (b'\\x01\\x02\\x03\\x04',)
    """
    quoted = (tree[1] for tree in _pairs(program.value) if tree[0] == _QUOTE)
    atoms = {atom for atom in quoted if isinstance(atom, bytes) and 1 < len(atom) <= WORD}
    return tuple(sorted(atoms))


@lru_cache(maxsize=64)
def head_lengths(program: Program) -> tuple[int, ...]:
    """The lengths in bytes that the first part of a move may have, the one that opens something.

    >>> head_lengths(Program(bytes.fromhex("ff0cff02ff80ffff011480")))  # (substr 2 () (q . 20))
    (20,)
    """
    words: list[Value] = list(_compared_lengths(program))
    for operator, operands in _pairs(program.value):
        try:
            ends = from_list(operands)[1:] if operator == _SUBSTR else []
        except NotAList:
            continue
        words += [end[1] for end in ends if isinstance(end, tuple) and end[0] == _QUOTE]
    lengths = {atom_to_int(word) for word in words if isinstance(word, bytes) and len(word) == 1}
    return tuple(sorted(length for length in lengths if SHORTEST_HEAD <= length <= LONGEST_HEAD))


@lru_cache(maxsize=64)
def evidence_of(program: Program) -> tuple[Written, ...]:
    """Each constant of the program, and an atom of each length that may be one of them.

    Lengths that the program compares with a `strlen` come several times: half of all, if there
    are any.

    >>> program = Program(bytes.fromhex("ff09ffff0dff0280ffff010380"))  # (= (strlen 2) (q . 3))
    >>> [value.hex() for value, _ in evidence_of(program)]
    ['', '03', '1f1f', '1f1f1f', '1f1f1f1f', '1f1f', '1f1f1f', '1f1f1f1f', '1f1f', '1f1f1f']
    """
    quoted = (tree[1] for tree in _pairs(program.value) if tree[0] == _QUOTE)
    constants = {atom for atom in quoted if isinstance(atom, bytes) and len(atom) <= WORD}
    words = [NIL, *constants - {NIL}, *_of_lengths(constants)]
    compared = _of_lengths(set(_compared_lengths(program)))
    often = islice(cycle(compared), len(words) if compared else 0)
    return tuple((word, serialize(word)) for word in (*sorted(words), *often))


def _of_lengths(numbers: Collection[bytes]) -> list[bytes]:
    """Atoms with these lengths, one byte more and one less."""
    near = {atom_to_int(atom) + step for atom in numbers if len(atom) <= 2 for step in (-1, 0, 1)}
    return [b"\x1f" * length for length in sorted(near) if 0 < length <= LONGEST]


def _pairs(value: Value) -> Iterator[tuple[Value, Value]]:
    """The pairs of a tree: each expression of a program, and each rest of its lists."""
    waiting = [value]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, tuple):
            yield tree
            waiting += (tree[1], tree[0])


def _compared_lengths(program: Program) -> Iterator[bytes]:
    """The constants that the program compares with the length of something."""
    for tree in _pairs(program.value):
        match tree:
            case (operator, (one, (other, b""))) if operator in _COMPARING:
                for length, constant in ((one, other), (other, one)):
                    match length, constant:
                        case (operator, (_, b"")), (quote, bytes(atom)) if (
                            operator == _STRLEN and quote == _QUOTE
                        ):
                            yield atom


def evidence_near(atoms: Sequence[bytes], chance: FastChance) -> Value:
    """One of these atoms, an atom next to it, or a range around or beside it.

    A range is a list or a pair of its two ends, as proofs have them that something is missing
    between neighbours. Ends are as long as the atom, or numbers in the fewest bytes.
    """
    atom = chance.pick(atoms)
    as_number = len(atom) <= NUMBER and chance.random() < 0.5
    form, steps = chance.pick(_NEAR)
    return form([_moved(atom, step, as_number) for step in steps])


_Form: TypeAlias = Callable[[Sequence[bytes]], Value]
_alone: _Form = itemgetter(0)
_pair: _Form = itemgetter(0, 1)
_NEAR: tuple[tuple[_Form, tuple[int, ...]], ...] = (
    *((_alone, (0,)), (_alone, (-1,)), (_alone, (1,)), (to_list, (0,)), (_pair, (-1, 1))),
    *((to_list, (-1, 1)), (to_list, (-2, -1)), (to_list, (1, 2))),
)
"""The forms of evidence near an atom, each with its items: steps below or above the atom."""


def _moved(atom: bytes, step: int, as_number: bool) -> bytes:
    """A neighbour of the atom, as a number or of the same length; the atom where it has none."""
    if not step:
        return atom
    if as_number:
        return int_to_atom(atom_to_int(atom) + step)
    number = int.from_bytes(atom, "big") + step
    return number.to_bytes(len(atom), "big") if 0 <= number < 1 << 8 * len(atom) else atom
