"""Words of a program: its constants, the lengths it compares and cuts at, and evidence from both.

A program that compares `(strlen evidence)` has that length as a constant; one that looks for a
certain value has the value. Both are among the atoms of the program, with some noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import cycle, islice
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.values import NUMBER, leaves, moved
from channelsim.clsp.operators import CODES
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, atom_to_int, int_to_atom, serialize, to_list

Written: TypeAlias = tuple[Value, bytes]
"""A value, and its serialization."""

WORD = 40
"""Longer atoms of a program are code or tables, and no words."""

LONGEST = 128
"""The longest evidence, in bytes, that is made because the program has its length as a constant."""

NO_PATH = 4
"""No path into an environment is so long, in bytes."""

GROUP_ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001.to_bytes(32, "big")
"""The order of the groups of BLS12-381: scalars that differ by it multiply a point alike."""

LONGEST_CUT = 4096
"""A program cuts nothing behind so many bytes: the constant is noise."""

_QUOTE, _SUBSTR, _STRLEN = b"\x01", b"\x0c", b"\x0d"
_MULTIPLYING = {CODES[name] for name in ("pubkey_for_exp", "g1_multiply", "g2_multiply")}
_COMPARING = (b"\x09", b"\x0a", b"\x15")


@lru_cache(maxsize=64)
def words_of(program: Program) -> tuple[bytes, ...]:
    """The atoms that the program has in it, as a dictionary: its constants, and some noise.

    >>> words_of(Program(bytes.fromhex("ff10ff02ffff018203e880")))
    (b'', b'\\x01', b'\\x02', b'\\x03\\xe8', b'\\x10')
    """
    return tuple(sorted({atom for atom in leaves(program.value) if len(atom) <= WORD}))


@lru_cache(maxsize=64)
def constants(program: Program) -> tuple[bytes, ...]:
    """The constants, but for tables: quoted atoms, and those that functions take from their
    environment, of which only long ones differ from paths. And the order of the group, where the
    program multiplies points.

    >>> constants(Program(bytes.fromhex("ff09ff02ffff018401020304ffff010580")))
    (b'\\x01\\x02\\x03\\x04', b'\\x05')
    """
    quoted = (tree[1] for tree in _pairs(program.value) if tree[0] == _QUOTE)
    atoms = {atom for atom in quoted if isinstance(atom, bytes) and len(atom) <= WORD}
    heads = {head for head, _ in _pairs(program.value) if isinstance(head, bytes)}
    if heads & _MULTIPLYING:
        atoms.add(GROUP_ORDER)
    atoms |= {atom for atom in leaves(program.value) if NO_PATH <= len(atom) <= WORD}
    return tuple(sorted(atoms))


@lru_cache(maxsize=64)
def evidence_of(program: Program) -> tuple[Written, ...]:
    """Each constant of the program, and an atom of each length that may be one of them.

    Lengths that the program compares with a `strlen` come several times: half of all, if there
    are any.

    >>> program = Program(bytes.fromhex("ff09ffff0dff0280ffff010380"))  # (= (strlen 2) (q . 3))
    >>> [value.hex() for value, _ in evidence_of(program)]
    ['', '03', '1f1f', '1f1f1f', '1f1f1f1f', '1f1f', '1f1f1f', '1f1f1f1f', '1f1f', '1f1f1f']
    """
    known, compared = set(constants(program)), set(lengths(program).compared)
    # Atoms with each of these numbers as their length, and with one byte more and one less.
    long, often = (
        [
            b"\x1f" * length
            for length in sorted(
                {
                    atom_to_int(atom) + step
                    for atom in numbers
                    if len(atom) <= 2
                    for step in (-1, 0, 1)
                }
            )
            if 0 < length <= LONGEST
        ]
        for numbers in (known, compared)
    )
    words = sorted([NIL, *known - {NIL}, *long])
    times = len(words) if often else 0
    return tuple((word, serialize(word)) for word in (*words, *islice(cycle(often), times)))


def _pairs(value: Value) -> Iterator[tuple[Value, Value]]:
    """The pairs of a tree: each expression of a program, and each rest of its lists."""
    waiting = [value]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, tuple):
            yield tree
            waiting += (tree[1], tree[0])


class Lengths(NamedTuple):
    """The constants that say where a `substr` of a program begins or ends, in order, and those that
    it compares with the length of something."""

    cuts: tuple[int, ...]
    compared: tuple[bytes, ...]


@lru_cache(maxsize=64)
def lengths(program: Program) -> Lengths:
    """The lengths that a program cuts at and compares.

    >>> lengths(Program(bytes.fromhex("ff0cff02ff80ffff011480")))  # (substr 2 () (q . 20))
    Lengths(cuts=(20,), compared=())
    """
    places, compared = set(), set()
    for tree in _pairs(program.value):
        match tree:
            case (operator, (_, ends)) if operator == _SUBSTR:
                while isinstance(ends, tuple):
                    match ends[0]:
                        case (quote, bytes(atom)) if quote == _QUOTE:
                            places.add(atom_to_int(atom))
                    ends = ends[1]
            case (operator, (one, (other, b""))) if operator in _COMPARING:
                for length, constant in ((one, other), (other, one)):
                    match length, constant:
                        case (operator, (_, b"")), (quote, bytes(atom)) if (
                            operator == _STRLEN and quote == _QUOTE
                        ):
                            compared.add(atom)
    cuts = tuple(sorted(place for place in places if 0 < place <= LONGEST_CUT))
    return Lengths(cuts, tuple(sorted(compared)))


def evidence_near(atoms: Sequence[bytes], chance: FastChance) -> Value:
    """One of these atoms, an atom next to it, or a range around or beside it.

    A range is a list or a pair of its two ends, as proofs have them that something is missing
    between neighbours. Ends are as long as the atom, or numbers in the fewest bytes.
    """
    atom = chance.pick(atoms)
    as_number = len(atom) <= NUMBER and chance.random() < 0.5
    form, steps = chance.pick(_NEAR)
    return form(
        [
            int_to_atom(atom_to_int(atom) + step) if step and as_number else moved(atom, step)
            for step in steps
        ]
    )


_Form: TypeAlias = Callable[[Sequence[bytes]], Value]
_alone: _Form = itemgetter(0)
_pair: _Form = itemgetter(0, 1)
_NEAR: tuple[tuple[_Form, tuple[int, ...]], ...] = (
    *((_alone, (0,)), (_alone, (-1,)), (_alone, (1,)), (to_list, (0,)), (_pair, (-1, 1))),
    *((to_list, (-1, 1)), (to_list, (-2, -1)), (to_list, (1, 2))),
)
"""The forms of evidence near an atom, each with its items: steps below or above the atom."""
