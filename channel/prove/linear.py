"""Comparisons of sums, asked of a solver of integers before bit vectors are: it answers at once.

Numbers do not wrap, so a sum of bit vectors is one of integers wherever its bounds say so. What is
no such sum is an unknown integer here, and what is no comparison an unknown truth value: where the
integers contradict each other, the bit vectors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import z3

from channelsim.channel.prove.solver import Frames
from channelsim.channel.prove.symbols import Condition, Term

STEPS = 2_000_000
"""The most steps of the solver of integers on one question, about two seconds of work: the same
ones on any machine, however busy."""

LARGEST = 512
"""The longest number, in bits, that is translated."""

Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class _Sum:
    """An integer with the bounds that it surely has."""

    term: Term
    least: int
    most: int


_Known: TypeAlias = tuple[dict[int, Interval], dict[int, _Sum], dict[int, Term]]
"""Bounds, sums and truth values, by the ids of their terms."""

_COMPARED = {
    z3.Z3_OP_SLEQ: lambda a, b: a <= b,
    z3.Z3_OP_SLT: lambda a, b: a < b,
    z3.Z3_OP_SGEQ: lambda a, b: a >= b,
    z3.Z3_OP_SGT: lambda a, b: a > b,
}


class Linear:
    """The conditions of a path, as far as they are about sums of integers.

    Paths that are followed one after the other share it: each calls `begin`.
    """

    def __init__(self) -> None:
        self._solver = z3.SolverFor("QF_LIA")
        self._solver.set("rlimit", STEPS)
        self._bounds: dict[int, Interval] = {}
        self._sums: dict[int, _Sum] = {}
        self._truths: dict[int, Term] = {}
        self._kept: list[Term] = []  # so that the solver's ids stay theirs
        self._conditions: list[Term] = []
        self._ids: list[int] = []
        self._frames = Frames(self._push, self._pop, self._assert)
        self._before: list[_Known] = []
        self._fresh = 0

    def begin(self) -> None:
        """Begin another path, on which nothing is known to hold."""
        self._conditions, self._ids = [], []

    def add(self, condition: Term) -> None:
        """Add a condition that holds."""
        self._conditions.append(condition)
        self._ids.append(condition.get_id())

    def refutes(self, condition: Condition) -> bool:
        """True if a condition surely contradicts those that hold."""
        if isinstance(condition, bool):
            return not condition
        self._frames.agree(self._conditions, self._ids)
        self._push()
        try:
            self._solver.add(self._truth(condition))
            return bool(self._solver.check() == z3.unsat)
        finally:
            self._pop(1)  # later conditions may say more about the bounds of its sums

    def bounds(self, term: Term) -> Interval:
        """The bounds that a number surely has, by those of the variables in its sum.

        They follow from the conditions alone, whatever was asked before: a replay has the same.
        """
        self._frames.agree(self._conditions, self._ids)
        self._push()
        self._sums = {}  # what was translated before may rest on wider bounds
        try:
            known = self._sum(term)
            return known.least, known.most
        finally:
            self._pop(1)

    # --- frames --------------------------------------------------------------------------------

    def _push(self) -> None:
        self._solver.push()
        self._before.append((dict(self._bounds), dict(self._sums), dict(self._truths)))

    def _pop(self, count: int) -> None:
        """Forget the last frames: what was translated in them rests on their bounds."""
        self._solver.pop(count)
        self._bounds, self._sums, self._truths = self._before[-count]
        del self._before[-count:]

    def _assert(self, conditions: Sequence[Term]) -> None:
        for condition in conditions:
            self._learn(condition)
        for condition in conditions:
            self._solver.add(self._truth(condition))

    # --- bounds --------------------------------------------------------------------------------

    def _learn(self, condition: Term, holds: bool = True) -> None:
        """Note what a condition that holds, or does not, says about the bounds of a single part."""
        if z3.is_not(condition):
            self._learn(condition.arg(0), not holds)
        elif z3.is_and(condition) if holds else z3.is_or(condition):
            for part in condition.children():
                self._learn(part, holds)
        elif z3.is_app(condition) and condition.decl().kind() in _COMPARED:
            self._learn_bound(condition, holds)

    def _learn_bound(self, comparison: Term, holds: bool) -> None:
        """Note the bound in a comparison with a constant."""
        kind, (left, right) = comparison.decl().kind(), comparison.children()
        if kind in (z3.Z3_OP_SGEQ, z3.Z3_OP_SGT):
            left, right = right, left
        strict = kind in (z3.Z3_OP_SLT, z3.Z3_OP_SGT)
        if not holds:
            left, right, strict = right, left, not strict
        # Now `left` is at most `right`, or below it.
        if z3.is_bv_value(left):
            self._narrow(right, left.as_signed_long() + strict, None)
        elif z3.is_bv_value(right):
            self._narrow(left, None, right.as_signed_long() - strict)

    def _narrow(self, term: Term, least: int | None, most: int | None) -> None:
        """Note a bound of a part of the inputs, or of one with zeros at its top."""
        inner = _below_zeros(term)
        if inner is None and not _is_part(term):
            return
        low, high = self._bounds_of(term)
        if inner is not None:
            low = max(low, 0)
        low, high = (
            max(low, low if least is None else least),
            min(high, high if most is None else most),
        )
        self._set_bounds(term, low, high)
        if inner is not None and high < 1 << (inner.size() - 1):
            # Its own sign bit is 0, too.
            self._narrow(inner, low, high)

    def _set_bounds(self, variable: Term, least: int, most: int) -> None:
        number = variable.get_id()
        self._bounds[number] = least, most
        if number in self._sums:
            self._sums[number] = _Sum(self._sums[number].term, least, most)

    def _bounds_of(self, term: Term) -> Interval:
        half = 1 << (term.size() - 1)
        return self._bounds.get(term.get_id(), (-half, half - 1))

    # --- truth values --------------------------------------------------------------------------

    def _truth(self, term: Term) -> Term:
        known = self._truths.get(term.get_id())
        if known is None:
            known = self._translated(term)
            self._truths[term.get_id()] = known
            self._kept.append(term)
        return known

    def _translated(self, term: Term) -> Term:
        kind, parts = term.decl().kind(), term.children()
        if z3.is_true(term) or z3.is_false(term):
            return term
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT) or (
            kind in (z3.Z3_OP_ITE, z3.Z3_OP_EQ) and all(map(z3.is_bool, parts))
        ):
            truths = list(map(self._truth, parts))
            match kind:
                case z3.Z3_OP_AND:
                    return z3.And(*truths)
                case z3.Z3_OP_OR:
                    return z3.Or(*truths)
                case z3.Z3_OP_NOT:
                    return z3.Not(truths[0])
                case z3.Z3_OP_ITE:
                    return z3.If(*truths)
            return truths[0] == truths[1]
        is_compared = kind in _COMPARED or (kind == z3.Z3_OP_EQ and all(map(z3.is_bv, parts)))
        if is_compared and parts[0].size() <= LARGEST:
            left, right = map(self._sum, parts)
            if kind == z3.Z3_OP_EQ:
                return left.term == right.term
            return _COMPARED[kind](left.term, right.term)
        self._fresh += 1
        return z3.Bool(f"truth {self._fresh}")

    # --- integers ------------------------------------------------------------------------------

    def _sum(self, term: Term) -> _Sum:
        known = self._sums.get(term.get_id())
        if known is None:
            known = self._integer(term) or self._unknown(term)
            self._sums[term.get_id()] = known
            self._kept.append(term)
        return known

    def _unknown(self, term: Term) -> _Sum:
        """A variable, or what is no sum: any integer within its bounds."""
        least, most = self._bounds_of(term)
        self._fresh += 1
        integer = z3.Int(f"integer {self._fresh}")
        self._solver.add(least <= integer, integer <= most)
        return _Sum(integer, least, most)

    def _integer(self, term: Term) -> _Sum | None:
        """A term as a sum of integers; None for what is none, or might wrap."""
        if z3.is_bv_value(term):
            number = term.as_signed_long()
            return _Sum(z3.IntVal(number), number, number)
        kind, parts = term.decl().kind(), term.children()
        match kind:
            case z3.Z3_OP_BADD:
                sums = list(map(self._sum, parts))
                total = z3.Sum(*[part.term for part in sums])
                least, most = (sum(getattr(s, name) for s in sums) for name in ("least", "most"))
                return _fitting(term, _Sum(total, least, most))
            case z3.Z3_OP_BMUL if len(parts) == 2 and z3.is_bv_value(parts[0]):
                factor, number = parts[0].as_signed_long(), self._sum(parts[1])
                ends = sorted((factor * number.least, factor * number.most))
                return _fitting(term, _Sum(factor * number.term, *ends))
            case z3.Z3_OP_ITE:
                then, otherwise = map(self._sum, parts[1:])
                least, most = min(then.least, otherwise.least), max(then.most, otherwise.most)
                chosen = z3.If(self._truth(parts[0]), then.term, otherwise.term)
                return _Sum(chosen, least, most)
            case z3.Z3_OP_SIGN_EXT:
                return self._sum(parts[0])
            case z3.Z3_OP_ZERO_EXT:
                inner = self._sum(parts[0])
                return inner if inner.least >= 0 else None
            case z3.Z3_OP_CONCAT:
                return self._extended(parts)
        return None

    def _extended(self, parts: list[Term]) -> _Sum | None:
        """A number with more bits at its top: its sign, or zeros if it is not negative."""
        *tops, last = parts
        if all(_is_sign(part, last) for part in tops):
            return self._sum(last)
        if all(z3.is_bv_value(part) and not part.as_long() for part in tops):
            inner = self._sum(last)
            return inner if inner.least >= 0 else None
        return None


def _fitting(term: Term, total: _Sum) -> _Sum | None:
    half = 1 << (term.size() - 1)
    return total if -half <= total.least and total.most < half else None


def _is_part(term: Term) -> bool:
    """True for a variable, and for some of its bits."""
    if term.decl().kind() == z3.Z3_OP_EXTRACT:
        term = term.arg(0)
    return bool(term.decl().kind() == z3.Z3_OP_UNINTERPRETED and not term.num_args())


def _below_zeros(term: Term) -> Term | None:
    """The part of a number below zeros at its top; None where there are none."""
    match term.decl().kind():
        case z3.Z3_OP_ZERO_EXT:
            return term.arg(0)
        case z3.Z3_OP_CONCAT:
            *tops, last = term.children()
            if all(z3.is_bv_value(top) and not top.as_long() for top in tops):
                return last
    return None


def _is_sign(part: Term, number: Term) -> bool:
    """True if this is the top bit of a number, as often as it has bits."""
    kind, top = part.decl().kind(), number.size() - 1
    if kind == z3.Z3_OP_ITE == number.decl().kind():
        same_test = part.arg(0).eq(number.arg(0))
        sides = [_is_sign(part.arg(at), number.arg(at)) for at in (1, 2)]
        return bool(same_test) and all(sides)
    if number.decl().kind() == z3.Z3_OP_CONCAT and number.arg(0).size() == 1:
        return bool(part.eq(number.arg(0)))
    if z3.is_bv_value(part) and z3.is_bv_value(number):
        signs = (1 << part.size()) - 1 if number.as_signed_long() < 0 else 0
        return bool(part.as_long() == signs)
    if part.size() != 1 or kind != z3.Z3_OP_EXTRACT:
        return False
    bit, inner = part.decl().params()[0], part.arg(0)
    if inner.eq(number):
        return bool(bit == top)
    # A number that is a part of longer bytes itself.
    is_part = number.decl().kind() == z3.Z3_OP_EXTRACT and inner.eq(number.arg(0))
    return bool(is_part and bit == number.decl().params()[0])
