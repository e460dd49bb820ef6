"""Symbolic CLVM values: atoms that are terms of the solver, in pairs of known shape.

A number carries the interval that it lies in, and has as many bits as that interval needs: no
operation can wrap. A number of more than `MOST_BITS` bits is not computed at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from channelsim.clsp.values import NIL, atom_to_int, int_to_atom, is_minimal

Term: TypeAlias = Any
"""A term of the solver: a bit vector, or a truth value."""

Condition: TypeAlias = Any
"""A truth value: a term, or a `bool` where it is known."""

ONE = b"\x01"
MOST_BITS, MOST_SUM = 2048, 1 << 15
"""The longest number that is computed with, and the longest sum."""

MOST_BYTES = 4096
"""The longest atom that is put together."""


class Undecided(Exception):
    """Nothing can be said of a path: an operator without a model, or a bound is exceeded."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = ""


class Raises(Exception):
    """The program raises on this path."""


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """An integer from `least` to `most` in the fewest bytes; the term is signed, and has just the
    bits for these bounds."""

    term: Term
    least: int
    most: int


@dataclass(frozen=True, slots=True, eq=False)
class Bytes:
    """An atom of `size` bytes, at least one; the term has eight times as many bits."""

    term: Term
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The atom 1 where the term holds, and `()` where not."""

    term: Term


@dataclass(frozen=True, slots=True, eq=False)
class Long:
    """What is known of bytes of `least` to `most` bytes before their length is decided.

    `start` are the first ones. `value` is the signed number that they are read as, of 8 * `most`
    bits: what ties it to the bytes is a condition of each alternative.
    """

    least: int
    most: int
    start: Bytes
    value: Term


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """A part of an input whose shape is decided when a program looks at it.

    `selector` is the number of the chosen alternative, each of which is built with the conditions
    that its parts fulfil. `longer`: all alternatives are atoms that are not empty. `bounded`: there
    are values of more pairs, or longer atoms, that are no alternative. `long`: the alternatives are
    atoms of each length in a range, in order.
    """

    name: str
    selector: Term
    alternatives: tuple[Callable[[], tuple[Symbolic, tuple[Condition, ...]]], ...]
    longer: bool = False
    bounded: bool = False
    long: Long | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """A part of an input that programs may only pass on; `example` stands for it in real runs."""

    name: str
    example: Any


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of an unknown function for two signed operands: a term with these bounds."""

    first: Term
    second: Term
    term: Term
    least: int
    most: int


Symbol: TypeAlias = Number | Bytes | Truth | Lazy | Hidden
Symbolic: TypeAlias = "bytes | tuple[Symbolic, Symbolic] | Symbol"
"""A value of which some atoms may be symbols."""


# --- numbers ---------------------------------------------------------------------------------


def width(least: int, most: int) -> int:
    """The bits of a signed number within these bounds.

    >>> width(0, 1), width(-128, 127), width(0, 128)
    (2, 8, 9)
    """
    return max((~bound if bound < 0 else bound).bit_length() for bound in (least, most)) + 1


def resize(term: Term, bits: int) -> Term:
    """A signed term in more bits, or the lowest of its bits."""
    size = term.size()
    if bits > size:
        return z3.SignExt(bits - size, term)
    return term if bits == size else z3.Extract(bits - 1, 0, term)


def make_number(term: Term, least: int, most: int, most_bits: int = MOST_BITS) -> bytes | Number:
    """A number of which these bounds are known, whatever the bits of its term."""
    if least == most:
        return int_to_atom(least)
    bits = width(least, most)
    if bits > most_bits:
        raise Undecided(f"a number of {bits} bits, at most {most_bits}")
    return Number(resize(term, bits), least, most)


def as_number(atom: bytes | Number | Bytes | Truth) -> Number:
    """The signed number that an atom is read as."""
    match atom:
        case Number():
            return atom
        case Truth(term):
            return Number(z3.If(term, z3.BitVecVal(1, 2), z3.BitVecVal(0, 2)), 0, 1)
        case Bytes(term, size):
            half = 1 << (8 * size - 1)
            return Number(term, -half, half - 1)
        case _:
            number = atom_to_int(atom)
            return Number(z3.BitVecVal(number, width(number, number)), number, number)


def fits(number: Number, size: int) -> Condition:
    """True where the number needs at most `size` bytes."""
    if size == 0:
        if number.least > 0 or number.most < 0:
            return False
        return number.term == 0
    half = 1 << (8 * size - 1)
    conditions = []
    if number.most >= half:
        conditions.append(number.term <= half - 1)
    if number.least < -half:
        conditions.append(number.term >= -half)
    return z3.And(*conditions) if conditions else True


def sizes(number: Number) -> range:
    """The possible lengths in bytes of a number."""
    lengths = [len(int_to_atom(bound)) for bound in (number.least, number.most)]
    zero = number.least <= 0 <= number.most
    low = 0 if zero else min(lengths)
    return range(low, max(lengths) + 1)


# --- atoms -----------------------------------------------------------------------------------


def bits_of(atom: bytes | Bytes) -> Term:
    """The term of an atom of known length, which is not empty."""
    if isinstance(atom, Bytes):
        return atom.term
    return z3.BitVecVal(int.from_bytes(atom, "big"), 8 * len(atom))


def make_bytes(term: Term, size: int) -> bytes | Bytes:
    """Bytes from a term; known ones if the term is a constant in all but name."""
    plain = z3.simplify(term)
    return Bytes(plain, size)


def known_bytes(atom: bytes | Bytes) -> bytes | None:
    """The bytes of an atom whose term is a constant."""
    if isinstance(atom, bytes):
        return atom
    if z3.is_bv_value(atom.term):
        return int(atom.term.as_long()).to_bytes(atom.size, "big")
    return None


def is_numeric(atom: Symbolic) -> bool:
    """True if the atom is surely in the fewest bytes: equality is that of numbers."""
    return isinstance(atom, Number | Truth) or (isinstance(atom, bytes) and is_minimal(atom))


def equal(left: Any, right: Any) -> Condition:
    """True where two atoms have the same bytes."""
    if left is right:
        return True
    if isinstance(left, bytes) and isinstance(right, bytes):
        return left == right
    if isinstance(left, Truth) and isinstance(right, Truth):
        return left.term == right.term
    if is_numeric(left) and is_numeric(right):
        return same_numbers(as_number(left), as_number(right))
    if isinstance(left, Number | Truth):
        left, right = right, left
    if isinstance(right, Number | Truth):
        if isinstance(left, bytes):
            return False  # it is not in the fewest bytes
        return conjunction(minimal(left), same_numbers(as_number(left), as_number(right)))
    size = left.size if isinstance(left, Bytes) else len(left)
    if size != (right.size if isinstance(right, Bytes) else len(right)):
        return False
    return bits_of(left) == bits_of(right)


def same_numbers(left: Number, right: Number) -> Condition:
    """True where two numbers are the same."""
    if left.most < right.least or right.most < left.least:
        return False
    bits = max(left.term.size(), right.term.size())
    return resize(left.term, bits) == resize(right.term, bits)


def minimal(atom: Bytes) -> Condition:
    """True where bytes are a number in the fewest bytes."""
    if atom.size == 1:
        return atom.term != 0
    top = 8 * atom.size - 1
    nine = z3.Extract(top, top - 8, atom.term)
    return z3.And(nine != 0, nine != (1 << 9) - 1)


def conjunction(*conditions: Condition) -> Condition:
    """True where all conditions hold."""
    if any(condition is False for condition in conditions):
        return False
    terms = [condition for condition in conditions if condition is not True]
    return z3.And(*terms) if terms else True


def truth_of(atom: bytes | Number | Bytes | Truth) -> Condition:
    """True where an atom is not empty."""
    match atom:
        case bytes():
            return atom != NIL
        case Truth(term):
            return term
        case Bytes():
            return True
        case Number(term, least, most):
            return True if least > 0 or most < 0 else term != 0


def make_truth(condition: Condition) -> bytes | Truth:
    """The atom of a condition."""
    if isinstance(condition, bool):
        return ONE if condition else NIL
    return Truth(condition)


def merge(condition: Term, then: Symbolic, otherwise: Symbolic) -> Symbolic | None:
    """One atom that is `then` where the condition holds; None for what needs two paths."""
    if then is otherwise:
        return then
    if isinstance(then, bytes) and then == otherwise:
        return then
    truths = [_as_truth(then), _as_truth(otherwise)]
    if None not in truths:
        return Truth(z3.If(condition, *truths))
    if is_numeric(then) and is_numeric(otherwise):
        left, right = as_number(then), as_number(otherwise)  # type: ignore[arg-type]
        least, most = min(left.least, right.least), max(left.most, right.most)
        bits = width(least, most)
        return Number(
            z3.If(condition, resize(left.term, bits), resize(right.term, bits)), least, most
        )
    if isinstance(then, bytes | Bytes) and isinstance(otherwise, bytes | Bytes):
        size = then.size if isinstance(then, Bytes) else len(then)
        if size and size == (otherwise.size if isinstance(otherwise, Bytes) else len(otherwise)):
            return Bytes(z3.If(condition, bits_of(then), bits_of(otherwise)), size)
    return None


def _as_truth(atom: Symbolic) -> Term | None:
    if isinstance(atom, Truth):
        return atom.term
    if isinstance(atom, bytes) and atom in (NIL, ONE):
        return z3.BoolVal(atom == ONE)
    return None


def name_of(atom: bytes | Bytes) -> bytes | int:
    """What tells bytes from others: themselves, or the solver's id of their term."""
    return int(atom.term.get_id()) if isinstance(atom, Bytes) else atom


def selected(lazy: Lazy, number: int) -> Condition:
    """True where an input has this alternative; a selector beyond the last one means the last."""
    return True if number == len(lazy.alternatives) - 1 else lazy.selector == number
