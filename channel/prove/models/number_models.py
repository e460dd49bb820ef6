"""Models of operators on numbers: sums, products, division, shifts, bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

import z3

from channelsim.channel.prove.models.byte_models import position, size_of
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.products import divided
from channelsim.channel.prove.products import product as multiplied
from channelsim.channel.prove.symbols import (
    MOST_SUM,
    Condition,
    Number,
    Raises,
    Symbolic,
    Term,
    Undecided,
    bits_of,
    make_number,
    resize,
    width,
)
from channelsim.clsp.operators import MAX_SHIFT
from channelsim.clsp.values import NIL, int_to_atom


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
    """Model `*`: two products of the same factors are the same term, in whatever order."""
    factors = [
        factor for value in values for factor in path.factors_of(path.narrowed(path.number(value)))
    ]
    product = path.number(int_to_atom(1))
    for number in sorted(factors, key=_order):
        corners = [
            a * b for a in (product.least, product.most) for b in (number.least, number.most)
        ]
        term = multiplied(path, product, number, min(corners), max(corners))
        product = path.number(make_number(z3.simplify(term), min(corners), max(corners)))
    path.note_factors(product, factors)
    return make_number(product.term, product.least, product.most)


def _order(number: Number) -> tuple[int, int, int]:
    return number.term.size(), number.term.hash(), number.term.get_id()


def _divided(path: Path, left: Symbolic, right: Symbolic) -> tuple[Symbolic, Symbolic]:
    """The floored quotient, and the remainder, which has the sign of the divisor."""
    a, b = path.narrowed(path.number(left)), path.narrowed(path.number(right))
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
        quotient, remainder = divided(path, a, b, (quotients[1], remainders[1]))
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
        if not size_of(text):
            return NIL
        largest = (1 << 8 * size_of(text)) - 1
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


def bitwise(
    combine: Callable[[Term, Term], Term], bounds: Bounds, start: int
) -> Callable[..., Symbolic]:
    """The model of an operator on bits; `start`: its result of no operands."""

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


def and_bounds(a: Number, b: Number, bits: int) -> tuple[int, int]:
    """The bounds of the bits that both numbers have."""
    limits = [number.most for number in (a, b) if number.least >= 0]
    if limits:
        return 0, min(limits)
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def or_bounds(a: Number, b: Number, bits: int) -> tuple[int, int]:
    """The bounds of the bits that either number has, or just one."""
    half = 1 << (bits - 1)
    return (0 if a.least >= 0 and b.least >= 0 else -half), half - 1


def complement(path: Path, value: Symbolic) -> Symbolic:
    """Model `lognot`."""
    number = path.number(value)
    return make_number(~number.term, -number.most - 1, -number.least - 1)
