"""Functions that are unknown ones in proofs, and their separate comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import thread_time

import pytest
import z3

from channelsim.channel.lab.targets.loading import load as load_target
from channelsim.channel.prove import lemma_checks
from channelsim.channel.prove.arguments import MOVE, coin_field, part
from channelsim.channel.prove.checked import Batch, FunctionsAgree
from channelsim.channel.prove.claims import Equal, lemmas_used
from channelsim.channel.prove.comparison import SizeReport, examine_size
from channelsim.channel.prove.inputs import Domain
from channelsim.channel.prove.lemma import applied, lemmas_of
from channelsim.channel.prove.lemma_checks import CHECKS, uses
from channelsim.channel.prove.path import Path as ProofPath
from channelsim.channel.prove.path import explore
from channelsim.channel.prove.proof import Proof, make_question, prove
from channelsim.channel.prove.rules.claim import ObeysRules
from channelsim.channel.prove.rules.lemma_claim import LemmaHolds
from channelsim.channel.prove.solver import make_solver
from channelsim.channel.prove.symbols import Condition, Number
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import Program, load, with_symbols
from channelsim.clsp.values import atom_to_int, int_to_atom, serialize, to_list
from channelsim.games.forms import Atom, Integer, ListOf, Record
from channelsim.games.lemma import Lemma, Turn
from channelsim.games.poker.lemmas import acting_first

SOURCE = """
(mod
  (
    PROGRAM_HASH
    (MOVER_PUBKEY WAITER_PUBKEY TIMEOUT AMOUNT MOD_HASH NONCE
     MOVE MAX_MOVE_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
  )
  (include *standard-cl-23*)
  (defun score (number) {score})
  (if (= (strlen MOVE) {size})
    (if {test} (list PROGRAM_HASH (score MOVE) 4) ())
    ()
  )
)
"""

SQUARE = "(list (r (divmod (* number number) 97)) (r (divmod number 7)))"
IN_ANOTHER_WAY = "(list (r (divmod (* (+ number 97) (- number 97)) 97)) (% (- number 49) 7))"
RARE = (
    "(if (= number -77) (list 1 1) (list (r (divmod (* number number) 97)) (r (divmod number 7))))"
)


def score(number: int) -> tuple[int, int]:
    """The function in Python."""
    return number * number % 97, number % 7


def wrong_score(number: int) -> tuple[int, int]:
    """Another one for a single number."""
    return (0, 0) if number == 100 else score(number)


SCORE = Lemma(
    name="the score",
    function="score",
    python=score,
    arguments=(Integer(-128, 127),),
    result=ListOf(Integer(0, 96), 2, 2),
    cost=100_000,
)


Compile = Callable[..., Program]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """Compile a validator with this score, for moves of a size that pass a test."""

    def compile_text(text: str, size: int = 1, test: str = "1") -> Program:
        source = tmp_path / "score.clsp"
        source.write_text(SOURCE.format(score=text, size=size, test=test))
        return compile_source(source)

    return compile_text


def compared(left: Program, right: Program, lemma: Lemma = SCORE, size: int = 1) -> SizeReport:
    domain = Domain((left.hash,), Record(object, ()), size)
    with deep():
        claim = Equal(("left", "right"), (left, right), (lemma,))
        return examine_size(claim, domain, size, thread_time() + 20)


def test_functions_that_are_written_in_two_ways_are_one(compiled: Compile) -> None:
    programs = compiled(SQUARE), compiled(IN_ANOTHER_WAY)
    report = compared(*programs)
    assert (report.broken, report.gaps.total(), report.confirmed) == (False, 0, report.paths)
    (text,) = lemmas_used(Equal(("left", "right"), programs, (SCORE,)))
    assert text == (
        "the score: `score` is an unknown function on all sides; compared on all 256 inputs"
    )


@pytest.mark.parametrize("text", [RARE, "(list 1 2 3)", "(x)", "(divmod number 97)", "1"])
def test_a_function_that_is_another_one_is_undecided(compiled: Compile, text: str) -> None:
    right = compiled(text)
    (use,) = uses(SCORE, right, right.value)
    assert use.false
    report = compared(compiled(SQUARE), right)
    assert report.broken or any("a lemma does not hold" in gap.reason for gap in report.gaps)


def test_a_python_function_that_is_another_one_is_undecided(compiled: Compile) -> None:
    lemma = replace(SCORE, python=wrong_score)
    program = compiled(SQUARE)
    report = compared(program, compiled(IN_ANOTHER_WAY), lemma)
    (gap,) = report.gaps
    assert gap.reason == "a lemma does not hold: the score: false for 0x64: the functions differ"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"result": ListOf(Integer(0, 95), 2, 2)}, "0x60 is no number from 0 to 95"),
        ({"result": ListOf(Integer(0, 96), 3, 3)}, "a list that is too short"),
        ({"cost": 1000}, "the program's function costs"),
    ],
)
def test_a_form_and_a_cost_are_compared_too(
    compiled: Compile, changed: dict[str, object], reason: str
) -> None:
    program = compiled(SQUARE)
    (use,) = uses(replace(SCORE, **changed), program, program.value)  # type: ignore[arg-type]
    assert reason in use.false


def test_a_difference_beside_the_function_is_shown(compiled: Compile) -> None:
    report = compared(compiled(SQUARE), compiled(SQUARE, test="(not (= (f (score MOVE)) 16))"))
    assert report.counterexample is not None
    number = atom_to_int(part(report.counterexample, coin_field(MOVE)))
    assert score(number)[0] == 16


def test_where_there_are_more_arguments_many_are_drawn(compiled: Compile) -> None:
    lemma = replace(SCORE, arguments=(Integer(-(1 << 39), (1 << 39) - 1),))
    program = compiled(SQUARE, size=5)
    (use,) = uses(lemma, program, program.value)
    assert (use.inputs, use.exhaustive, use.false) == (CHECKS, False, "")
    last = "(if (= number 549755813887) (list 1 1) (list (r (divmod (* number number) 97)) 0))"
    other = compiled(last.replace(" 0))", " (r (divmod number 7))))"), size=5)
    assert uses(lemma, other, other.value)[0].false


def test_drawn_arguments_of_each_kind_are_written_in_each_way(compiled: Compile) -> None:
    lemma = replace(
        SCORE,
        arguments=(Integer(-(1 << 39), (1 << 39) - 1),),
        draw=lambda chance: (1000 * chance.below(1000) + 7,),
    )
    right = FunctionsAgree(compiled(SQUARE, size=5), lemma, 300)
    assert right.check(0) == Batch(300)
    wrong = f"(if (all (= (r (divmod number 1000)) 7) (= (strlen number) {{size}})) () {SQUARE})"
    for size in (3, 5):  # the numbers of `draw`, in the fewest bytes and in all
        program = compiled(wrong.format(size=size), size=5)
        assert FunctionsAgree(program, lemma, 300).check(0).differs.startswith("false for 0x")


def test_a_function_of_bytes(compiled: Compile) -> None:
    lemma = replace(
        SCORE,
        python=lambda text: text[::-1],
        arguments=(Atom(2),),
        result=Atom(2),
    )
    program = compiled("(concat (substr number 1) (substr number 0 1))", size=2)
    assert not uses(lemma, program, program.value)[0].false
    assert not compared(program, program, lemma, 2).gaps


def solved(program: Program, lemma: Lemma) -> Proof:
    """The proof of a lemma by the solver, for a program that has its function."""
    target = load_target("calpoker")
    changed = replace(target, programs={**target.programs, "c": program})
    question = make_question(LemmaHolds(program, lemma), (changed,), "c")
    return prove(question, 30)


WIDE = replace(SCORE, arguments=(Integer(-(1 << 39), (1 << 39) - 1),), cost=1_000_000)


def linear(number: int) -> tuple[int, int]:
    """A function that the solver follows."""
    return (number & 63) + 1, (number >> 3) & 1


LINEAR = replace(WIDE, python=linear)
SAME = "(list (+ 64 (- (logand number 63) 63)) (logand 1 (ash number -3)))"


def test_the_solver_compares_functions_on_every_argument(compiled: Compile) -> None:
    proof = solved(compiled(SAME, size=5), LINEAR)
    assert (proof.verdict, proof.undecided) == ("proved", ())
    assert proof.result().bounds == (
        "arguments of `score`: every value: -549755813888 to 549755813887",
    )


@pytest.mark.parametrize(
    ("text", "changed", "reason"),
    [
        (f"(if (= number 81985529216) (list 1 1) {SAME})", {}, "it is false for 0x1316b7e580"),
        (f"(if (= number 0x00000000ff) (list 1 1) {SAME})", {}, "it is false for 0x00000000ff"),
        (SAME, {"result": ListOf(Integer(0, 63), 2, 2)}, "0x40 is no number from 0 to 63"),
        (SAME, {"cost": 2000}, "costs"),
        (f"(if (= number 81985529216) (x) {SAME})", {}, "ends by raise"),
    ],
)
def test_the_solver_finds_the_argument_on_which_they_differ(
    compiled: Compile, text: str, changed: dict[str, object], reason: str
) -> None:
    lemma = replace(LINEAR, **changed)  # type: ignore[arg-type]
    proof = solved(compiled(text, size=5), lemma)
    assert proof.verdict == "undecided"
    assert any(reason in gap.reason for gap in proof.undecided), proof.undecided


def test_what_ascends_is_compared(compiled: Compile) -> None:
    lemma = replace(SCORE, result=ListOf(Integer(0, 96), 2, 2, ascending=True))
    program = compiled(SQUARE)
    (use,) = uses(lemma, program, program.value)
    assert "a list that does not ascend" in use.false


@pytest.mark.long
def test_california_poker_deals_alike() -> None:
    (lemma,) = lemmas_of("calpoker")
    program = with_symbols(load("calpoker/c"))
    (use,) = uses(lemma, program, program.value)
    assert (use.false, use.inputs) == ("", CHECKS)
    assert lemmas_of("spacepoker") == lemmas_of(None) == ()


@pytest.mark.long
def test_rules_and_program_are_one_but_for_the_deal() -> None:
    target = load_target("calpoker")
    claim = ObeysRules(target, "c", 48)
    question = make_question(claim, (target,), "c")
    with deep():
        report = examine_size(claim, question.domain(), 48, thread_time() + 60)
    assert (report.broken, report.gaps.total(), report.unconfirmed) == (False, 0, 0)
    assert report.endings["valid"]
    assert len(lemmas_used(claim)) == 1


# --- stored comparisons ------------------------------------------------------------------------


def is_small(number: int) -> int:
    """A function of the rules."""
    return int(number < 300)


SMALL = Lemma("a small number", "is_small", is_small, (Integer(0, 399),), Integer(0, 1), 100_000)
LESS, OTHER = (  # (> (q . LIMIT) 5): 5 is the first argument
    serialize(to_list([b"\x15", (b"\x01", int_to_atom(limit)), b"\x05"])) for limit in (300, 299)
)


def runs_of_a_comparison(body: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """How many inputs are run, and where the functions differ."""
    tried: list[object] = []
    real = lemma_checks.difference

    def noted(lemma: Lemma, body: bytes, tree: bytes, values: object) -> str:
        tried.append(values)
        return real(lemma, body, tree, values)

    with monkeypatch.context() as patch:
        patch.setattr(lemma_checks, "difference", noted)
        count, exhaustive, false = lemma_checks.compared.__wrapped__(SMALL, body, b"\x80")
    assert exhaustive
    assert count == 400 or false
    return len(tried), false


def test_equal_functions_are_stored_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert runs_of_a_comparison(LESS, monkeypatch) == (400, "")  # of others: never stored
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(is_small, "__module__", "channelsim.games.small")
    assert runs_of_a_comparison(LESS, monkeypatch) == (400, "")
    assert runs_of_a_comparison(LESS, monkeypatch) == (lemma_checks.AGAIN, "")
    for _ in range(2):
        count, false = runs_of_a_comparison(OTHER, monkeypatch)
        assert count == 300
        assert false
    monkeypatch.setattr(lemma_checks, "own_sources", lambda: "another version of the rules")
    assert runs_of_a_comparison(LESS, monkeypatch) == (400, "")


def first(flag: int, own: int, theirs: int) -> int:
    """Let the higher number be first; of equals, the one without the flag."""
    return int(own - theirs >= flag)


FIRST = Lemma(
    name="who is first",
    function="is_first",
    python=first,
    arguments=(Integer(0, 1), Integer(0, 9), Integer(0, 9)),
    result=Integer(0, 1),
    cost=100_000,
    turn=Turn((0, 2, 1), 0),
)


def test_the_other_side_of_a_turn_gets_the_other_answer() -> None:
    def asked(path: ProofPath) -> Condition:
        flag, own, theirs = (
            Number(z3.BitVec(name, bits), 0, most)
            for name, bits, most in [("flag", 2, 1), ("own", 5, 9), ("theirs", 5, 9)]
        )
        for number in (flag, own, theirs):
            path.assume(z3.And(number.term >= 0, number.term <= number.most))
        answer = applied(FIRST, path, [flag, own, theirs])
        other = applied(FIRST, path, [Number(1 - flag.term, 0, 1), theirs, own])
        assert isinstance(answer, Number)
        assert isinstance(other, Number)
        return answer.term + other.term == 1

    solver = make_solver()
    for _, agree in explore(asked, solver, thread_time() + 60):
        assert solver.check(z3.Not(agree)) == z3.unsat


@pytest.mark.long
def test_a_turn_is_compared() -> None:
    program = load_target("razz").programs["begin"]
    right = acting_first(1)
    (use,) = uses(right, program, program.value)
    assert not use.false
    # The other player's cards do not take the place of one's own.
    (use,) = uses(replace(right, turn=Turn((0, 1, 2, 3), 1)), program, program.value)
    assert "the other side gets the same answer" in use.false
