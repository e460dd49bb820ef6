"""Models of operators on bytes: lengths, parts, joining, hashes."""

from __future__ import annotations

from hashlib import sha256

import z3

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import (
    MOST_BYTES,
    Bytes,
    Condition,
    Lazy,
    Number,
    Raises,
    Symbolic,
    Term,
    Undecided,
    bits_of,
    fits,
    known_bytes,
    make_bytes,
    make_number,
    resize,
    sizes,
    width,
)
from channelsim.channel.prove.undecided_lengths import undecided_length
from channelsim.clsp.values import NIL, atom_to_int, int_to_atom
from channelsim.games.amounts import counted

POSITION = 4
"""The longest position or count, in bytes."""

BYTE = 8
"""The bits of an input all of whose values are tried."""

LONGEST_TABLE = 512
"""The longest bytes of which a part is taken at a place that is not known, without a fork."""


def size_of(atom: bytes | Bytes) -> int:
    """The length of an atom."""
    return atom.size if isinstance(atom, Bytes) else len(atom)


def sliced(atom: bytes | Bytes, start: int, end: int) -> bytes | Bytes:
    """The part of an atom from one place to another, both within it."""
    if isinstance(atom, bytes):
        return atom[start:end]
    if start == end:
        return NIL
    if (start, end) == (0, atom.size):
        return atom
    high, low = 8 * (atom.size - start) - 1, 8 * (atom.size - end)
    return make_bytes(z3.Extract(high, low, atom.term), end - start)


def length(path: Path, value: Symbolic) -> Symbolic:
    """Model `strlen`, of a number or of an atom of any length without a fork."""
    undecided = undecided_length(path, path.shape(value))
    if undecided is not None:
        return undecided
    atom = path.atom(value)
    if isinstance(atom, bytes | Bytes):
        return int_to_atom(size_of(atom))
    number = path.number(atom)
    counts = sizes(number)
    bits = width(0, counts[-1])
    term = z3.BitVecVal(counts[-1], bits)
    for size in reversed(counts[:-1]):
        term = z3.If(fits(number, size), z3.BitVecVal(size, bits), term)
    return make_number(term, counts[0], counts[-1])


def position(path: Path, value: Symbolic, most: int, least: int = 0) -> int:
    """A position or a count within these bounds, by cases; outside of them CLVM raises."""
    atom = path.atom(value)
    if isinstance(atom, bytes | Bytes) and size_of(atom) > POSITION:
        raise Raises
    number = path.value(path.number(atom), least, most)
    if number is None:
        raise Raises
    return number


def substring(
    path: Path, value: Symbolic, start: Symbolic, end: Symbolic | None = None
) -> Symbolic:
    """Model `substr`, which raises past the end.

    A part of known length at a place that is not known needs no fork for each place.
    """
    shape = path.shape(value)
    if isinstance(shape, Lazy) and path.is_long(shape):
        part = _part_of_long(path, shape, start, end)
        if part is not None:
            return part
    text = path.bytes(value)
    if end is not None and 0 < size_of(text) <= LONGEST_TABLE:
        first, last = path.atom(start), path.atom(end)
        if isinstance(first, Number) and isinstance(last, Number):
            size = _difference(first, last)
            if size is not None and 0 < size <= size_of(text):
                return _moving(path, text, first, last, size)
    stop = size_of(text) if end is None else position(path, end, size_of(text))
    return sliced(text, position(path, start, stop), stop)


def _part_of_long(path: Path, text: Lazy, start: Symbolic, end: Symbolic | None) -> Symbolic | None:
    first = path.atom(start)
    last = None if end is None else path.atom(end)
    if not isinstance(first, bytes) or not isinstance(last, bytes | None):
        return None
    if atom_to_int(first) < 0:
        raise Raises
    return long_atoms.part_of(text, atom_to_int(first), None if last is None else atom_to_int(last))


def _difference(first: Number, last: Number) -> int | None:
    """What the second number is more than the first one on every input; None if it varies."""
    bits = max(first.term.size(), last.term.size())
    term = z3.simplify(resize(last.term, bits) - resize(first.term, bits))
    if not z3.is_bv_value(term):
        return None
    # Modulo a power of two, which leaves one number between the bounds.
    least, most = last.least - first.most, last.most - first.least
    known = least + (int(term.as_long()) - least) % (1 << bits)
    return known if known + (1 << bits) > most else None


def _moving(
    path: Path, text: bytes | Bytes, first: Number, last: Number, size: int
) -> bytes | Bytes:
    """The part of this size at a place that is not known."""
    low, high = max(first.least, 0), min(first.most, size_of(text) - size)
    if low > high or not path.branch(z3.And(first.term >= low, first.term <= high)):
        raise Raises
    places = _places(first, low, high)
    term = bits_of(sliced(text, places[-1][1], places[-1][1] + size))
    for condition, at in reversed(places[:-1]):
        term = z3.If(condition, bits_of(sliced(text, at, at + size)), term)
    return make_bytes(term, size)


def _places(number: Number, low: int, high: int) -> list[tuple[Condition, int]]:
    """Where a number within these bounds has each value: by the byte that it depends on, if it
    depends on one only."""
    variables = _variables(number.term)
    if len(variables) == 1 and (byte := variables[0]).size() <= BYTE:
        values = (
            (z3.substitute(number.term, (byte, z3.BitVecVal(value, byte.size()))), value)
            for value in range(1 << byte.size())
        )
        places = [(byte == value, z3.simplify(term).as_signed_long()) for term, value in values]
        inside = [(condition, at) for condition, at in places if low <= at <= high]
        if inside:
            return inside
    return [(number.term == at, at) for at in range(low, high + 1)]


def _variables(term: Term) -> list[Term]:
    """The inputs that a term depends on, at most two, and unknown functions."""
    variables: dict[int, Term] = {}
    waiting, seen = [term], set()
    while waiting and len(variables) < 2:
        part = waiting.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if z3.is_app(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            variables[part.get_id()] = part
        else:
            waiting += part.children()
    return list(variables.values())


def concat(path: Path, *values: Symbolic) -> bytes | Bytes:
    """Model `concat`."""
    atoms = [atom for atom in map(path.bytes, values) if size_of(atom)]
    size = sum(map(size_of, atoms))
    if size > MOST_BYTES:
        raise Undecided(f"an atom of {counted(size, 'byte')}, at most {MOST_BYTES}")
    if not atoms:
        return NIL
    known = [known_bytes(atom) for atom in atoms]
    if None not in known:
        return b"".join(part for part in known if part is not None)
    terms = [bits_of(atom) for atom in atoms]
    return make_bytes(z3.Concat(*terms) if len(terms) > 1 else terms[0], size)


def hash_of(path: Path, *values: Symbolic) -> bytes | Bytes:
    """Model `sha256`: an unknown function of bytes that are not known, one for each length."""
    text = concat(path, *values)
    known = known_bytes(text)
    if known is not None:
        path.hashed.append(known)
        return sha256(known).digest()
    return Bytes(sha256_function(size_of(text))(bits_of(text)), 32)


HASH = "sha256 of "
"""The beginning of the names of the unknown functions."""


def sha256_function(size: int) -> Term:
    """SHA-256 of this many bytes, as a function of which nothing is known."""
    return z3.Function(f"{HASH}{size}", z3.BitVecSort(8 * size), z3.BitVecSort(256))
