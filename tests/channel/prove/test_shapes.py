"""States shape by shape, ranges of sizes of moves, and what makes questions easy for the solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath
from time import thread_time

import pytest
import z3

from channelsim.channel import prove
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.prove import lemma_checks
from channelsim.channel.prove.claims import Equal
from channelsim.channel.prove.comparison import SizeReport, examine_size
from channelsim.channel.prove.inputs import Domain
from channelsim.channel.prove.linear import Linear
from channelsim.channel.prove.path import Path, explore
from channelsim.channel.prove.products import divided, exact, product
from channelsim.channel.prove.proof import examine
from channelsim.channel.prove.questions import Bounds, questions
from channelsim.channel.prove.rules.invariant import StaysTrue
from channelsim.channel.prove.shapes import KnownShapes, measures, shapes_of
from channelsim.channel.prove.solver import Frames
from channelsim.channel.prove.symbols import Number
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.compiler import compile_source
from channelsim.games.forms import Record
from tests.sampling import one_row_in

SOURCE = """
(mod
  (
    PROGRAM_HASH
    (MOVER_PUBKEY WAITER_PUBKEY TIMEOUT AMOUNT MOD_HASH NONCE
     MOVE MAX_MOVE_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
  )
  (include *standard-cl-23*)
  (if {test} (list PROGRAM_HASH () 4) ())
)
"""

LEAST, MORE = f"(> MOVE {2**151 - 1})", f"(> MOVE {2**151})"
MOST, FEWER = f"(> {-(2**151)} MOVE)", f"(> {-(2**151) - 1} MOVE)"
"""Tests for numbers of twenty bytes or more, and for all of these but one."""


def of_range(left: str, right: str, folder: FilePath) -> SizeReport:
    """Two programs by their tests, compared on moves of 20 to 400 bytes."""
    programs = []
    for number, test in enumerate((left, right)):
        source = folder / f"test{number}.clsp"
        source.write_text(SOURCE.format(test=test))
        programs.append(compile_source(source))
    first, second = programs
    domain = Domain((first.hash,), Record(object, ()), 400, last=400)
    with deep():
        claim = Equal(("left", "right"), (first, second))
        return examine_size(claim, domain, 20, thread_time() + 30)


@pytest.mark.parametrize(
    ("left", "right", "differ"),
    one_row_in(
        3,
        [
            ("(= (strlen MOVE) 300)", "(= 300 (strlen MOVE))", False),
            ("(= (strlen MOVE) 300)", "(= (strlen MOVE) 301)", True),
            ("(> (strlen MOVE) 19)", "1", False),
            ("(> (strlen MOVE) 20)", "1", True),
            ("(= (substr MOVE 0 1) 7)", "(= 7 (substr MOVE 0 1))", False),
            ("(= (substr MOVE 0 1) 7)", "(= (substr MOVE 1 2) 7)", True),
            ("(= (substr MOVE 1) (+ (substr MOVE 1) 0))", "(= MOVE (+ 0 MOVE))", True),
            (
                "(if (= MOVE (+ MOVE 0)) (> MOVE 5) ())",
                "(if (= MOVE (+ MOVE 0)) (> MOVE 6) ())",
                False,
            ),
            ("(> MOVE 5)", "(> MOVE 6)", True),
            # The least number of twenty bytes, and the greatest negative one.
            (f"(> MOVE {2**151 - 1})", "(if (> MOVE 5) (= MOVE (+ MOVE 0)) ())", True),
            (
                "(if (= MOVE (+ MOVE 0)) (> MOVE 5) ())",
                f"(if (= MOVE (+ MOVE 0)) {LEAST} ())",
                False,
            ),
            ("(if (= MOVE (+ MOVE 0)) (> MOVE 5) ())", f"(if (= MOVE (+ MOVE 0)) {MORE} ())", True),
            (
                "(if (= MOVE (+ MOVE 0)) (> 5 MOVE) ())",
                f"(if (= MOVE (+ MOVE 0)) {MOST} ())",
                False,
            ),
            (
                "(if (= MOVE (+ MOVE 0)) (> 5 MOVE) ())",
                f"(if (= MOVE (+ MOVE 0)) {FEWER} ())",
                True,
            ),
        ],
    ),
)
def test_moves_of_a_range_of_sizes(left: str, right: str, differ: bool, tmp_path: FilePath) -> None:
    report = of_range(left, right, tmp_path)
    assert report.broken is differ
    assert not report.gaps
    assert differ or (report.confirmed, report.unconfirmed) == (report.paths, 0)


# --- poker -------------------------------------------------------------------------------------


@pytest.mark.long
def test_shapes_tell_states_apart_and_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove.shapes, "QUIET", 100)
    target = load("holdem")
    shapes = shapes_of(target, "begin")
    form = target.game.validators["begin"].form
    assert len({measures(form, shape.example) for shape in shapes}) == len(shapes) == 10
    assert len({shape.name for shape in shapes}) == len(shapes)
    assert "streets 4, seats.button 1" in {shape.name for shape in shapes_of(target, "mid")}
    assert shapes_of(load("spacepoker"), "end") == ()


@pytest.mark.long
def test_rules_and_program_of_a_shape_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemma_checks, "CHECKS", 20)
    obeys, stays = questions((load("holdem"),), "deal", Bounds(shape=1))
    for question in (obeys, stays):
        part = examine(question, 64, thread_time() + 30)
        assert (part.counterexample, part.undecided, part.unconfirmed) == ("", (), 0)
        assert part.endings["valid"]
    claim = stays.claim
    assert isinstance(claim, StaysTrue)
    fewer = KnownShapes(claim.target, {**claim.known.shapes, "begin": ()})
    lacking = replace(stays, claim=replace(claim, known=fewer))
    part = examine(lacking, 64, thread_time() + 30)
    (reason,) = {reason for reason, *_ in part.undecided}
    assert part.counterexample == ""
    assert reason.startswith("a state of begin whose shape no play has shown: ")


# --- sums and products -------------------------------------------------------------------------


def test_sums_that_contradict_each_other_are_refuted() -> None:
    x, y, z = (z3.BitVec(name, 16) for name in "xyz")
    linear = Linear()
    for condition in (x >= 0, x <= 99, y >= 0, y <= 99, z >= 0, z <= 99, x + y <= z):
        linear.add(z3.simplify(condition))
    assert linear.refutes(z3.simplify(x > z))
    assert linear.refutes(z3.simplify(z3.If(x > y, x, y) > z))
    assert not linear.refutes(z3.simplify(x == z))


def test_a_sum_in_more_bits_is_a_sum() -> None:
    """Also if only some parts of it had their top bit repeated before."""
    x, y, z = (z3.BitVec(name, 16) for name in "xyz")
    wide = z3.If(x > y, z3.SignExt(1, x), 2 * z3.SignExt(1, y))
    linear = Linear()
    for condition in (x >= 0, x <= 99, y >= 0, y <= 99, z >= 0, z <= 99):
        linear.add(z3.simplify(condition))
    linear.add(z3.simplify(z3.SignExt(40, wide) <= z3.SignExt(41, z)))
    assert linear.refutes(z3.simplify(z3.And(x > y, x > z)))
    assert linear.refutes(z3.simplify(z3.And(x <= y, y > z)))
    assert not linear.refutes(z3.simplify(z3.And(x <= y, x > y - 1)))


def test_a_sum_that_may_wrap_is_no_sum_of_integers() -> None:
    x = z3.BitVec("x", 8)
    linear = Linear()
    linear.add(z3.simplify(x > 0))
    assert not linear.refutes(z3.simplify(x + 1 < x))  # of 127
    linear.add(z3.simplify(x <= 126))
    bounded = Linear()
    bounded.add(z3.simplify(x <= 126))
    assert bounded.refutes(z3.simplify(x + 1 < x))


def test_the_bounds_of_a_path_are_not_those_of_the_next_one() -> None:
    x = z3.BitVec("x", 8)
    small, positive, wraps = (z3.simplify(term) for term in (x <= 126, x > 0, x + 1 < x))
    linear = Linear()
    for condition in (positive, small):
        linear.add(condition)
    assert linear.refutes(wraps)
    linear.begin()
    linear.add(positive)
    assert not linear.refutes(wraps)
    linear.add(small)
    assert linear.refutes(wraps)


def test_a_solver_has_the_conditions_of_its_path_only() -> None:
    x, y = z3.BitVecs("x y", 8)
    solver = z3.Solver()

    def run(path: Path) -> tuple[bool, ...]:
        path.assume(x >= 0)
        low = path.branch(x < 100)
        path.assume(y <= x)
        return (low, path.branch(y > 50), path.branch(y > 99)) if low else (low,)

    ends = []
    for path, end in explore(run, solver, float("inf")):
        ends.append(end)
        conditions = [str(condition) for condition in path.conditions]
        assert [str(condition) for condition in solver.assertions()] == conditions
        assert solver.check() == z3.sat
    assert sorted(ends) == [(False,), (True, False, False), (True, True, False)]


def test_frames_are_kept_as_far_as_conditions_are_the_same() -> None:
    told: list[str] = []
    frames = Frames(
        lambda: told.append("push"),
        lambda count: told.append(f"pop {count}"),
        lambda conditions: told.append(f"add {list(conditions)}"),
    )
    a, b, c, d = z3.Bools("a b c d")
    for given in ([a], [a, b, c], [a, b, c], [a, b], [a, d]):
        frames.agree(given, [term.get_id() for term in given])
        told.append("agreed")
    assert " ".join(told) == (
        "push add [a] agreed push add [b, c] agreed agreed"
        " pop 1 push add [b] agreed pop 1 push add [d] agreed"
    )


def test_products_are_unknown_until_they_are_needed() -> None:
    a, b = (Number(z3.BitVec(name, 40), 0, (1 << 39) - 1) for name in "ab")
    path = Path(None, (), float("inf"))
    most = ((1 << 39) - 1) ** 2
    left, right = product(path, a, b, 0, most), product(path, b, a, 0, most)
    assert left.eq(right)
    solver = z3.Solver()
    solver.add(a.term == 3, b.term == 5, left != 15)
    assert solver.check() == z3.sat
    solver.add(*exact(solver.assertions()))
    assert solver.check() == z3.unsat


@pytest.mark.parametrize(("number", "by"), [(0, 1), (17, 5), (1 << 60, 3), (6, 1 << 60)])
def test_quotients_are_unknown_until_they_are_needed(number: int, by: int) -> None:
    a, b = (
        Number(z3.BitVec(name, 64), least, (1 << 63) - 1) for name, least in (("a", 0), ("b", 1))
    )
    path = Path(None, (), float("inf"))
    quotient, remainder = divided(path, a, b, ((1 << 63) - 1, (1 << 63) - 2))
    for part, real in ((quotient, number // by), (remainder, number % by)):
        solver = z3.Solver()
        solver.add(a.term == number, b.term == by, part != real)
        assert solver.check() == z3.sat
        solver.add(*exact(solver.assertions()))
        assert solver.check() == z3.unsat
    names = [name for name in path.functions if name.startswith(("quotient", "remainder"))]
    whole = number << 64 | by
    assert [path.functions[name](whole) for name in names] == [number // by, number % by]
    for name, wanted in zip(names, (2, 1), strict=True):
        assert wanted in [path.functions[name](other) for other in path.near[name](whole, wanted)]
