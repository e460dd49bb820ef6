"""Models of CLVM's operators on symbolic values.

Each is exact: it forks the path where the result depends on more than a term can say (a division
by zero, the length of a number whose bytes are hashed), raises where CLVM raises, and is
`Undecided` where it can say nothing. Of known operands, the operators themselves are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import TypeAlias

import z3

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.products import product as multiplied
from channelsim.channel.prove.symbols import (
    MOST_BYTES,
    MOST_SUM,
    Bytes,
    Condition,
    Lazy,
    Number,
    Raises,
    Symbolic,
    Term,
    Undecided,
    bits_of,
    equal,
    fits,
    known_bytes,
    make_bytes,
    make_number,
    make_truth,
    merge,
    resize,
    sizes,
    width,
)
from channelsim.clsp.operators import CODES, MAX_SHIFT
from channelsim.clsp.values import NIL, atom_to_int, int_to_atom
from channelsim.games.amounts import counted

Model: TypeAlias = Callable[..., Symbolic]
"""The result of an operator, by the path and the operands."""

POSITION = 4
"""The longest position or count, in bytes."""

BYTE = 8
"""The bits of an input all of whose values are tried."""

LONGEST_TABLE = 512
"""The longest bytes of which a part is taken at a place that is not known, without a fork."""


# --- pairs and choices ---------------------------------------------------------------------------


def choose(path: Path, test: Symbolic, then: Symbolic, otherwise: Symbolic) -> Symbolic:
    """Model `i` of operands that have been evaluated."""
    condition = path.truth(test)
    known = path.known(condition)
    if known is None:
        merged = merge(condition, then, otherwise)
        if merged is not None:
            return merged
        known = path.branch(condition)
    return then if known else otherwise


def first(path: Path, pair: Symbolic) -> Symbolic:
    """Model `f`."""
    return _pair(path, pair)[0]


def rest(path: Path, pair: Symbolic) -> Symbolic:
    """Model `r`."""
    return _pair(path, pair)[1]


def _pair(path: Path, pair: Symbolic) -> tuple[Symbolic, Symbolic]:
    shape = path.shape(pair)
    if isinstance(shape, tuple):
        return shape
    raise Raises


def is_pair(path: Path, value: Symbolic) -> Symbolic:
    """Model `l`."""
    return make_truth(isinstance(path.shape(value), tuple))


def fail(path: Path, *values: Symbolic) -> Symbolic:
    """Model `x`."""
    raise Raises


# --- truth -----------------------------------------------------------------------------------


def negate(path: Path, value: Symbolic) -> Symbolic:
    """Model `not`."""
    condition = path.truth(value)
    return make_truth(not condition if isinstance(condition, bool) else z3.Not(condition))


def any_of(path: Path, *values: Symbolic) -> Symbolic:
    """Model `any`."""
    conditions = [path.truth(value) for value in values]
    if True in [condition for condition in conditions if isinstance(condition, bool)]:
        return make_truth(True)
    terms = [condition for condition in conditions if not isinstance(condition, bool)]
    return make_truth(z3.Or(*terms) if terms else False)


def all_of(path: Path, *values: Symbolic) -> Symbolic:
    """Model `all`."""
    conditions = [path.truth(value) for value in values]
    if False in [condition for condition in conditions if isinstance(condition, bool)]:
        return make_truth(False)
    terms = [condition for condition in conditions if not isinstance(condition, bool)]
    return make_truth(z3.And(*terms) if terms else True)


def same(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `=`, which compares bytes; a length that is not decided only with the other one."""
    mine, theirs = path.shape(left), path.shape(right)
    for undecided, other in ((mine, theirs), (theirs, mine)):
        if (
            isinstance(undecided, Lazy)
            and path.is_long(undecided)
            and long_atoms.has_number(undecided)
        ):
            if other is undecided:
                return make_truth(True)
            if isinstance(other, Number):
                number = path.number(undecided)  # decides whether it is in the fewest bytes
                if not path.branch(long_atoms.is_minimal(undecided)):
                    return NIL
                return make_truth(equal(number, other))
        if (
            isinstance(undecided, Lazy)
            and isinstance(other, bytes | Bytes)
            and not path.has_size(undecided, _size(other))
        ):
            return NIL
    return make_truth(equal(path.atom(mine), path.atom(theirs)))


def greater(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `>` of signed numbers."""
    a, b = path.number(left), path.number(right)
    if a.least > b.most:
        return make_truth(True)
    if a.most <= b.least:
        return make_truth(False)
    bits = max(a.term.size(), b.term.size())
    return make_truth(resize(a.term, bits) > resize(b.term, bits))


def greater_bytes(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `>s`, which compares byte by byte; of an undecided length without a fork."""
    mine, theirs = path.shape(left), path.shape(right)
    cases = path.by_length(mine)
    if cases is None:
        a = path.bytes(mine)
        cases = path.by_length(theirs)
        if cases is None:
            return make_truth(_is_after(a, path.bytes(theirs)))
        return make_truth(_by_cases([(case, _is_after(a, b)) for case, b in cases]))
    b = path.bytes(theirs)
    return make_truth(_by_cases([(case, _is_after(a, b)) for case, a in cases]))


def _by_cases(cases: Sequence[tuple[Condition, Condition]]) -> Condition:
    """What holds in the case that applies; the last one applies where no other does."""
    term = _as_term(cases[-1][1])
    for case, condition in reversed(cases[:-1]):
        term = z3.If(case, _as_term(condition), term)
    return term


def _as_term(condition: Condition) -> Term:
    return z3.BoolVal(condition) if isinstance(condition, bool) else condition


def _is_after(a: bytes | Bytes, b: bytes | Bytes) -> Condition:
    """Where bytes come after others, of which they may be a longer continuation."""
    longer, common = _size(a) > _size(b), min(_size(a), _size(b))
    if not common:
        return longer
    mine, theirs = bits_of(sliced(a, 0, common)), bits_of(sliced(b, 0, common))
    return z3.UGE(mine, theirs) if longer else z3.UGT(mine, theirs)


# --- bytes -----------------------------------------------------------------------------------


def _size(atom: bytes | Bytes) -> int:
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
    undecided = path.undecided_length(path.shape(value))
    if undecided is not None:
        return undecided
    atom = path.atom(value)
    if isinstance(atom, bytes | Bytes):
        return int_to_atom(_size(atom))
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
    if isinstance(atom, bytes | Bytes) and _size(atom) > POSITION:
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
    if end is not None and 0 < _size(text) <= LONGEST_TABLE:
        first, last = path.atom(start), path.atom(end)
        if isinstance(first, Number) and isinstance(last, Number):
            size = _difference(first, last)
            if size is not None and 0 < size <= _size(text):
                return _moving(path, text, first, last, size)
    stop = _size(text) if end is None else position(path, end, _size(text))
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
    low, high = max(first.least, 0), min(first.most, _size(text) - size)
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
    atoms = [atom for atom in map(path.bytes, values) if _size(atom)]
    size = sum(map(_size, atoms))
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
    return Bytes(sha256_function(_size(text))(bits_of(text)), 32)


HASH = "sha256 of "
"""The beginning of the names of the unknown functions."""


def sha256_function(size: int) -> Term:
    """SHA-256 of this many bytes, as a function of which nothing is known."""
    return z3.Function(f"{HASH}{size}", z3.BitVecSort(8 * size), z3.BitVecSort(256))


# --- numbers ---------------------------------------------------------------------------------


def add(path: Path, *values: Symbolic) -> Symbolic:
    """Model `+`."""
    return _sum([path.number(value) for value in values], [1] * len(values))


def subtract(path: Path, *values: Symbolic) -> Symbolic:
    """Model `-`: the first number minus all others."""
    return _sum([path.number(value) for value in values], [1] + [-1] * (len(values) - 1))


def _sum(numbers: Sequence[Number], signs: Sequence[int]) -> Symbolic:
    least = most = 0
    for number, sign in zip(numbers, signs, strict=False):
        least += number.least if sign > 0 else -number.most
        most += number.most if sign > 0 else -number.least
    bits = width(least, most)
    term = z3.BitVecVal(0, bits)
    # Modulo a power of two that the sum itself does not reach.
    for number, sign in zip(numbers, signs, strict=False):
        part = resize(number.term, bits)
        term = term + part if sign > 0 else term - part
    return make_number(z3.simplify(term), least, most, MOST_SUM)


def multiply(path: Path, *values: Symbolic) -> Symbolic:
    """Model `*`."""
    product = path.number(int_to_atom(1))
    for value in values:
        number = path.number(value)
        corners = [
            a * b for a in (product.least, product.most) for b in (number.least, number.most)
        ]
        term = multiplied(path, product, number, min(corners), max(corners))
        product = path.number(make_number(z3.simplify(term), min(corners), max(corners)))
    return make_number(product.term, product.least, product.most)


def _divided(path: Path, left: Symbolic, right: Symbolic) -> tuple[Symbolic, Symbolic]:
    """The floored quotient, and the remainder, which has the sign of the divisor."""
    a, b = path.number(left), path.number(right)
    if path.branch(_is_zero(b)):
        raise Raises
    largest = max(abs(a.least), abs(a.most), 1)
    quotients = (-largest, largest)
    remainders = (min(b.least + 1, 0), max(b.most - 1, 0))
    if a.least >= 0 and b.least >= 0:
        quotients = (0, a.most // max(b.least, 1))
        remainders = (0, min(a.most, remainders[1]))
    bits = max(a.term.size(), b.term.size()) + 1
    dividend, divisor = resize(a.term, bits), resize(b.term, bits)
    if b.least == b.most > 0 and not b.least & (b.least - 1):
        # By a power of two: no division for the solver to do.
        quotient = dividend >> (b.least.bit_length() - 1)
        remainder = dividend & (b.least - 1)
    elif a.least >= 0 and b.least >= 0:
        quotient, remainder = z3.UDiv(dividend, divisor), z3.URem(dividend, divisor)
    else:
        quotient, remainder = dividend / divisor, z3.SRem(dividend, divisor)
        below = z3.And(remainder != 0, (remainder < 0) != (divisor < 0))
        quotient = z3.If(below, quotient - 1, quotient)
        remainder = z3.If(below, remainder + divisor, remainder)
    return make_number(quotient, *quotients), make_number(remainder, *remainders)


def _is_zero(number: Number) -> Condition:
    if number.least > 0 or number.most < 0:
        return False
    return number.term == 0


def divide(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `/`."""
    return _divided(path, left, right)[0]


def divide_both(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `divmod`."""
    return _divided(path, left, right)


def remainder_of(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    """Model `%`."""
    return _divided(path, left, right)[1]


def shift(path: Path, value: Symbolic, count: Symbolic) -> Symbolic:
    """Model `ash`: a negative count is right, and floors."""
    return _shifted(path.number(value), position(path, count, MAX_SHIFT, -MAX_SHIFT))


def shift_unsigned(path: Path, value: Symbolic, count: Symbolic) -> Symbolic:
    """Model `lsh`: it shifts the unsigned value of the bytes."""
    atom = path.atom(value)
    by = position(path, count, MAX_SHIFT, -MAX_SHIFT)
    number = path.number(atom)
    if number.least < 0:
        text = path.bytes(atom)
        if not _size(text):
            return NIL
        largest = (1 << 8 * _size(text)) - 1
        term = z3.ZeroExt(1, bits_of(text))
        number = path.number(make_number(term, 0, largest))
    return _shifted(number, by)


def _shifted(number: Number, by: int) -> Symbolic:
    if by >= 0:
        least, most = number.least << by, number.most << by
        bits = width(least, most)
        if number.least == number.most == 0:
            return NIL
        if bits > 1 << 14:
            raise Undecided(f"a number of {bits} bits")
        return make_number(resize(number.term, bits) << by, least, most)
    least, most = number.least >> -by, number.most >> -by
    right = min(-by, number.term.size() - 1)
    return make_number(number.term >> right, least, most)


def _bitwise(combine: Callable[[Term, Term], Term], bounds: Bounds, start: int) -> Model:
    def model(path: Path, *values: Symbolic) -> Symbolic:
        """Combine the bits of signed numbers, the shorter one extended by its sign."""
        numbers = [path.number(value) for value in values]
        if not numbers:
            return int_to_atom(start)

        def pair(a: Number, b: Number) -> Number:
            bits = max(a.term.size(), b.term.size())
            term = combine(resize(a.term, bits), resize(b.term, bits))
            return path.number(make_number(z3.simplify(term), *bounds(a, b, bits)))

        result = reduce(pair, numbers)
        return make_number(result.term, result.least, result.most)

    return model


Bounds: TypeAlias = Callable[[Number, Number, int], tuple[int, int]]
"""The least and the most that a combination of two numbers, of so many bits, can be."""


def _and_bounds(a: Number, b: Number, bits: int) -> tuple[int, int]:
    limits = [number.most for number in (a, b) if number.least >= 0]
    if limits:
        return 0, min(limits)
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _or_bounds(a: Number, b: Number, bits: int) -> tuple[int, int]:
    half = 1 << (bits - 1)
    return (0 if a.least >= 0 and b.least >= 0 else -half), half - 1


def complement(path: Path, value: Symbolic) -> Symbolic:
    """Model `lognot`."""
    number = path.number(value)
    return make_number(~number.term, -number.most - 1, -number.least - 1)


MODELS: dict[str, Model] = {
    "i": choose,
    "c": lambda path, left, right: (left, right),
    "f": first,
    "r": rest,
    "l": is_pair,
    "x": fail,
    "=": same,
    ">s": greater_bytes,
    "sha256": hash_of,
    "substr": substring,
    "strlen": length,
    "concat": concat,
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "divmod": divide_both,
    ">": greater,
    "ash": shift,
    "lsh": shift_unsigned,
    "logand": _bitwise(lambda a, b: a & b, _and_bounds, -1),
    "logior": _bitwise(lambda a, b: a | b, _or_bounds, 0),
    "logxor": _bitwise(lambda a, b: a ^ b, _or_bounds, 0),
    "lognot": complement,
    "not": negate,
    "any": any_of,
    "all": all_of,
    "%": remainder_of,
}
"""The models by the operators' names."""


def by_code() -> Mapping[bytes, Model]:
    """The models by the operators' atoms."""
    return {CODES[name]: model for name, model in MODELS.items()}
