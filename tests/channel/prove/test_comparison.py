"""Comparisons of small programs: planted differences, equivalent programs, wrong models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from time import thread_time
from typing import Any

import pytest
import z3

from channelsim.channel.prove import symbols
from channelsim.channel.prove.claims import Equal
from channelsim.channel.prove.comparison import INVERTED, Gap, SizeReport, examine_size, state_of
from channelsim.channel.prove.concrete_runs import WrongModel, differ, outcomes
from channelsim.channel.prove.inputs import Domain
from channelsim.channel.prove.models import byte_models, number_models, truth_models
from channelsim.channel.prove.models.table import MODELS
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.solver import LATE
from channelsim.channel.prove.symbols import Bytes, Number, Symbolic, make_number, make_truth
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, int_to_atom
from tests.channel.prove.programs import (
    DIFFERENT,
    EQUIVALENT,
    FORMS,
    WRONG,
    Pair,
    assemble,
)
from tests.channel.prove.programs import (
    WrongModel as Wrong,
)
from tests.sampling import one_in

SECONDS = 60.0


def compared(
    left: Program,
    right: Program,
    sizes: Iterable[int],
    state: str = "nothing",
    seconds: float = SECONDS,
) -> list[SizeReport]:
    """The reports of these sizes, up to the first difference."""
    sizes = list(sizes)
    domain = Domain((left.hash, right.hash), FORMS[state], max(sizes))
    claim = Equal(("left", "right"), (left, right))
    reports: list[SizeReport] = []
    with deep():
        for size in sizes:
            reports.append(examine_size(claim, domain, size, thread_time() + seconds))
            if reports[-1].broken:
                break
    return reports


def pair_compared(pair: Pair, sizes: Iterable[int]) -> list[SizeReport]:
    return compared(assemble(pair.left), assemble(pair.right), sizes, pair.state)


def size_of(pair: Pair) -> int:
    """The size of the move of a pair's witness."""
    return len(pair.witness.get("move", "") + pair.witness.get("move_more", "")) // 2


@pytest.mark.parametrize("pair", one_in(2, DIFFERENT), ids=lambda pair: pair.name)
def test_a_planted_difference_is_shown(pair: Pair) -> None:
    report = pair_compared(pair, [size_of(pair)])[-1]
    assert report.counterexample is not None
    # It is shown again by the node's interpreter, without any model.
    assert differ(*outcomes([assemble(pair.left), assemble(pair.right)], report.counterexample))


@pytest.mark.parametrize("pair", one_in(6, EQUIVALENT), ids=lambda pair: pair.name)
def test_equivalent_programs_are_equal(pair: Pair) -> None:
    for report in pair_compared(pair, pair.sizes or range(pair.longest + 2)):
        assert not report.broken
        assert not report.gaps
        assert report.paths
        assert report.confirmed == report.paths
        assert report.samples == 12


# --- wrong models ------------------------------------------------------------------------------


def unsigned(number: Number) -> Any:
    return symbols.resize(number.term, 600)


def _greater(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    return make_truth(z3.UGT(unsigned(path.number(left)), unsigned(path.number(right))))


def _equal(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    return make_truth(unsigned(path.number(left)) == unsigned(path.number(right)))


def _divide(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    a, b = path.number(left), path.number(right)
    return make_number(unsigned(a) / unsigned(b), -(1 << 80), 1 << 80)


def _multiply(path: Path, *values: Symbolic) -> Symbolic:
    a, b = map(path.number, values)
    product = symbols.resize(a.term, 272) * symbols.resize(b.term, 272)
    return make_number(product, -(1 << 271), (1 << 271) - 1)


def _add(path: Path, *values: Symbolic) -> Symbolic:
    a, b = map(path.number, values)
    bits = max(a.term.size(), b.term.size())
    least = min(a.least, b.least)
    return make_number(symbols.resize(a.term, bits) + symbols.resize(b.term, bits), least, -least)


def _substring(path: Path, value: Symbolic, start: Symbolic, end: Symbolic) -> Symbolic:
    text = path.bytes(value)
    if isinstance(text, bytes) or text.size < 4:
        return text
    return byte_models.substring(path, value, start, end)


def _shift(path: Path, value: Symbolic, count: Symbolic) -> Symbolic:
    return number_models.shift(path, value, count)


def _greater_bytes(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    return truth_models.greater(path, left, right)


def _length(path: Path, value: Symbolic) -> Symbolic:
    number = path.number(value)
    size = z3.BitVecVal(0, 9)
    for limit in range(9):
        size = z3.If(unsigned(number) >= 1 << 8 * limit, z3.BitVecVal(limit + 1, 9), size)
    return make_number(size, 0, 9)


def _and(path: Path, *values: Symbolic) -> Symbolic:
    a, b = map(path.number, values)
    bits = max(a.term.size(), b.term.size())
    wide = [z3.ZeroExt(bits - number.term.size(), number.term) for number in (a, b)]
    return make_number(wide[0] & wide[1], -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _divmod(path: Path, left: Symbolic, right: Symbolic) -> Symbolic:
    if path.branch(path.number(right).term == 0):
        return NIL, NIL
    return number_models.divide_both(path, left, right)


def _hash(path: Path, value: Symbolic) -> Symbolic:
    text = Bytes(z3.simplify(symbols.resize(path.number(value).term, 64)), 8)
    known = symbols.known_bytes(text)
    if known is not None:
        return sha256(known).digest()
    return Bytes(byte_models.sha256_function(8)(text.term), 32)


WRONG_MODELS: dict[str, tuple[str, Callable[..., Symbolic]]] = {
    "`>` compares unsigned numbers": (">", _greater),
    "`=` compares numbers": ("=", _equal),
    "`/` rounds towards zero": ("/", _divide),
    "`*` wraps": ("*", _multiply),
    "`+` wraps": ("+", _add),
    "`substr` stops at the end": ("substr", _substring),
    "`lsh` is signed": ("lsh", _shift),
    "`>s` compares numbers": (">s", _greater_bytes),
    "`strlen` of a number leaves the sign byte out": ("strlen", _length),
    "`logand` extends with zeros": ("logand", _and),
    "`divmod` by zero is zero": ("divmod", _divmod),
    "`sha256` of a number in eight bytes": ("sha256", _hash),
}


@pytest.mark.parametrize("wrong", one_in(6, WRONG), ids=lambda wrong: wrong.model)
def test_a_wrong_model_shows_itself_in_real_runs(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = assemble(wrong.program)
    sizes = wrong.sizes or range(wrong.longest + 2)
    assert not any(report.gaps for report in compared(program, program, sizes))
    if wrong.model == "a zero byte is false":
        monkeypatch.setattr(Path, "truth", lambda path, value: path.number(value).term != 0)
    else:
        name, model = WRONG_MODELS[wrong.model]
        monkeypatch.setitem(MODELS, name, model)
    with pytest.raises(WrongModel, match="a model of an operator is wrong"):
        compared(program, program, sizes)


# --- what is undecided -------------------------------------------------------------------------


def gaps(left: str, right: str, size: int = 1, **options: Any) -> Counter[Gap]:
    report = compared(assemble(left), assemble(right), [size], **options)[-1]
    assert not report.broken
    return report.gaps


def test_an_operator_without_a_model_is_undecided_at_its_place() -> None:
    text = "(if (= MOVE 1) (keccak256 SHARE) 1)"
    ((gap, times),) = gaps(text, text).items()
    assert gap.reason == "no model of the operator keccak256"
    assert gap.side == "left"
    assert isinstance(gap.node, tuple)
    assert times == 1


def test_a_hash_that_would_have_to_be_inverted_is_undecided() -> None:
    text = "(if (= (sha256 MOVE) 0x" + "05" * 32 + ") {} 1)"
    assert set(gaps(text.format("2"), text.format("3"))) == {Gap(INVERTED)}


def test_code_from_an_input_is_undecided() -> None:
    ((gap, _),) = gaps("(a EVIDENCE 1)", "(a EVIDENCE 1)").items()
    assert gap.reason == "code that depends on an input"


def test_a_look_at_the_own_program_is_undecided() -> None:
    ((gap, _),) = gaps("(l PROGRAM)", "(l PROGRAM)").items()
    assert gap.reason == "its own program has no form that is known"


def test_a_loop_without_end_is_undecided() -> None:
    # (a 1 1) in an environment that is this code: (a (q . (a 1 1)) (q . (a 1 1))).
    code = bytes.fromhex("ff02ff01ff0180")
    endless = Program(bytes.fromhex("ff02ffff01") + code + bytes.fromhex("ffff01") + code + b"\x80")
    report = compared(endless, endless, [0], seconds=0.3)[-1]
    assert set(report.gaps) & {Gap(LATE), Gap(LATE, "left")}


def test_time_that_is_over_is_undecided() -> None:
    assert set(gaps("MOVE", "MOVE", seconds=-1.0)) == {Gap(LATE)}


def test_paths_on_which_larger_evidence_is_left_out_are_counted() -> None:
    def bounded(text: str) -> tuple[int, int]:
        (report,) = compared(assemble(text), assemble(text), [0])
        assert not report.gaps
        return report.bounded, report.paths

    assert bounded("(if (l EVIDENCE) 1 2)") == (0, 3)
    deep = "EVIDENCE"
    for _ in range(4):
        deep = f"(f {deep})"
    # Four pairs inside each other are followed: what is in the last one cannot be a pair.
    assert bounded(f"(l {deep})") == (2, 10)
    # The length of an atom is at most 33.
    assert bounded("(if (l EVIDENCE) 1 (strlen EVIDENCE))") == (1, 3)
    assert bounded("(if (l EVIDENCE) 1 (sha256 EVIDENCE))") == (33, 35)


def test_a_state_that_the_reader_refuses_is_no_difference() -> None:
    left, right = assemble("(> STATE 5)"), assemble("(> STATE 4)")
    domain = Domain((left.hash, right.hash), FORMS["number"], 1)
    claim = Equal(("left", "right"), (left, right))

    def verdict(read: Callable[[Any], bool]) -> bool:
        def takes(environment: Any) -> bool:
            return read(state_of(environment))

        report = examine_size(claim, domain, 0, thread_time() + SECONDS, takes)
        assert report.broken or report.gaps
        return report.broken

    assert verdict(lambda state: True)
    assert verdict(lambda state: state == int_to_atom(5))
    assert not verdict(lambda state: state != int_to_atom(5))


def test_what_is_undecided_on_one_side_is_so_again_when_the_other_forks() -> None:
    left, right = (f"(substr ({name} STATE STATE) 0 128)" for name in ("ash", "*"))
    domain = Domain((bytes(32),), FORMS["number"], 1)
    claim = Equal(("left", "right"), (assemble(left), assemble(right)))
    report = examine_size(claim, domain, 0, thread_time() + SECONDS)
    assert report.broken or any("decides on the length" in gap.reason for gap in report.gaps)
