"""The bounds of numbers on a path, from the comparisons that hold there."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from channelsim.channel.prove.linear import Linear
from channelsim.channel.prove.symbols import Term

X, Y = z3.BitVec("x", 4), z3.BitVec("y", 4)
ZERO = z3.BitVecVal(0, 2)
PARTS = (X, Y, z3.Extract(2, 0, X), z3.Concat(ZERO, X), z3.ZeroExt(2, Y), z3.SignExt(2, X))
COMPARISONS = tuple(
    compare
    for compare in (
        lambda a, b: a <= b,
        lambda a, b: a < b,
        lambda a, b: a >= b,
        lambda a, b: a > b,
        z3.ULE,
        lambda a, b: a == b,
    )
)
WIDE = z3.SignExt(4, X)
SUMS = (
    X,
    z3.Concat(ZERO, X),
    z3.Extract(2, 0, X),
    WIDE + z3.SignExt(4, Y),
    WIDE * 3 - z3.ZeroExt(4, Y),
    z3.If(X < Y, WIDE, z3.SignExt(4, Y) + 1),
    X + Y,  # wraps
)


@st.composite
def conditions(draw: st.DrawFn) -> Term:
    """A comparison with a constant, on either side, perhaps negated or beside another one."""
    part, compare = draw(st.sampled_from(PARTS)), draw(st.sampled_from(COMPARISONS))
    half = 1 << (part.size() - 1)
    constant = z3.BitVecVal(draw(st.integers(-half, half - 1)), part.size())
    term: Any = compare(part, constant) if draw(st.booleans()) else compare(constant, part)
    if draw(st.integers(0, 3)) == 0:
        join = draw(st.sampled_from((z3.And, z3.Or)))
        term = join(term, draw(conditions()))
    return z3.Not(term) if draw(st.booleans()) else term


@given(st.lists(conditions(), max_size=4), st.booleans())
def test_bounds_hold_for_all_inputs_of_a_path(holding: list[Term], simplified: bool) -> None:
    linear = Linear()
    linear.begin()
    for condition in holding:
        linear.add(z3.simplify(condition) if simplified else condition)
    bounds = [linear.bounds(term) for term in SUMS]
    solver = z3.Solver()
    solver.add(*holding)
    for term, (least, most) in zip(SUMS, bounds, strict=True):
        assert solver.check(z3.Or(term < least, term > most)) == z3.unsat


@pytest.mark.parametrize(
    ("holding", "bounds"),
    [
        ([], (-8, 7)),
        ([X > 1], (2, 7)),
        ([z3.Not(X <= 1), z3.Not(X >= 5)], (2, 4)),
        ([z3.Not(z3.Or(X < 0, X > 3))], (0, 3)),
        # As unsigned bytes are read.
        ([z3.And(z3.Concat(ZERO, X) >= 1, z3.Concat(ZERO, X) <= 5)], (1, 5)),
        # The lowest of 8 to 15 is -8.
        ([z3.Concat(ZERO, X) <= 12], (-8, 7)),
    ],
    ids=str,
)
def test_a_comparison_narrows_a_number(holding: list[Term], bounds: tuple[int, int]) -> None:
    linear = Linear()
    for condition in holding:
        linear.add(z3.simplify(condition))
    assert linear.bounds(X) == bounds


def test_bounds_do_not_depend_on_what_was_asked_before() -> None:
    """A replay of a path asks fewer questions, and has to get the same numbers."""
    total = z3.SignExt(4, X) + z3.SignExt(4, Y)
    facts = [total < 14, X >= 0, Y <= 3, X <= 2, Y >= -1]
    asked, fresh = Linear(), Linear()
    for fact in facts:
        asked.add(fact)
        fresh.add(fact)
        asked.bounds(total)
        asked.refutes(total > 4)
    assert asked.bounds(total) == fresh.bounds(total) == (-1, 5)
    # A later path of the same solver begins with nothing.
    asked.begin()
    assert asked.bounds(total) == (-16, 14)


def test_every_pair_of_bounds_is_found() -> None:
    """Both bounds of every interval, from comparisons of both kinds."""
    for low, high in product(range(-8, 8), repeat=2):
        if low < high:
            linear = Linear()
            linear.add(z3.simplify(low <= X))
            linear.add(z3.simplify(z3.Not(high < X)))
            assert linear.bounds(X) == (low, high)
