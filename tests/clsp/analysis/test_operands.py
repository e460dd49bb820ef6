"""A tracer notes the operands that a run compares, measures, cuts, computes and hashes."""

from __future__ import annotations

from hashlib import sha256

from channelsim.clsp.analysis.operands import MOST, OperandLog, Operands
from channelsim.clsp.analysis.tracer import Returned, Tracer
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, serialize, to_list

QUOTE, ADD, SUBTRACT, EQUAL, GREATER = b"\x01", b"\x10", b"\x11", b"\x09", b"\x15"
GREATER_ATOM, SHA256, STRLEN, LIST, FIRST = b"\x0a", b"\x0b", b"\x0d", b"\x04", b"\x02"
PUBKEY_FOR_EXP, G1_MULTIPLY = b"\x1e", b"\x32"


def call(operator: bytes, *operands: Value) -> Value:
    return to_list([operator, *operands])


def quoted(atom: bytes) -> Value:
    return QUOTE, atom


def noted(code: Value, argument: bytes = b"abc") -> Operands:
    """The operands of a run with this argument at the path 2, which says the same without a log."""
    log, program = OperandLog(), Program(serialize(code))
    environment = serialize((argument, b""))
    end = Tracer(program, log=log).run(environment)
    assert end == Tracer(program).run(environment)
    assert isinstance(end, Returned)
    return log.operands


def test_both_sides_of_every_comparison_are_noted() -> None:
    for operator in (EQUAL, GREATER, GREATER_ATOM, SUBTRACT):
        operands = noted(call(operator, FIRST, quoted(b"xyz")))
        assert operands.compared == ((b"abc", b"xyz"),)
    assert noted(call(ADD, FIRST, quoted(b"x"))).compared == ()


def test_a_comparison_inside_the_argument_of_a_hash_is_noted() -> None:
    code = call(SHA256, call(EQUAL, FIRST, quoted(b"x")), quoted(b"y"))
    assert noted(code).compared == ((b"abc", b"x"),)


def test_the_arguments_of_two_compared_hashes_are_compared() -> None:
    hashes = call(SHA256, FIRST, quoted(b"1")), call(SHA256, quoted(b"xyz"), quoted(b"2"))
    compared = noted(call(EQUAL, *hashes)).compared
    digests = sha256(b"abc1").digest(), sha256(b"xyz2").digest()
    assert compared == (digests, (b"abc", b"xyz"), (b"1", b"2"))
    # Of hashes of another number of atoms nothing is known.
    other = call(SHA256, quoted(b"xyz"))
    assert len(noted(call(EQUAL, hashes[0], other)).compared) == 1


def test_sums_and_lengths_are_noted() -> None:
    operands = noted(call(EQUAL, call(STRLEN, FIRST), call(ADD, quoted(b"\x01"), quoted(b"\x02"))))
    assert operands.compared == ((b"\x03", b"\x03"),)
    assert operands.lengths == {3: (b"abc",)}
    assert operands.computed == (b"\x03",)


def test_what_is_cut_out_is_noted() -> None:
    cut = call(b"\x0c", FIRST, quoted(b"\x01"), quoted(b"\x03"))
    assert noted(cut).parts == (b"bc",)
    assert noted(call(ADD, FIRST, quoted(b"x"))).parts == ()


def test_the_scalar_of_a_multiplication_is_noted() -> None:
    generator = call(PUBKEY_FOR_EXP, quoted(b"\x05"))
    assert noted(generator).scalars == (b"\x05",)
    assert noted(call(G1_MULTIPLY, generator, quoted(b"\x07"))).scalars == (b"\x05", b"\x07")


def test_pairs_and_raises_leave_no_operands() -> None:
    log = OperandLog()
    tracer = Tracer(Program(serialize(call(EQUAL, b"\x01", FIRST))), log=log)
    tracer.run(serialize((b"abc", b"")))
    assert log.operands.compared == ()


def test_a_log_has_one_run_and_ends() -> None:
    code: Value = quoted(b"")
    for number in range(MOST + 50):
        code = call(LIST, call(EQUAL, FIRST, quoted(number.to_bytes(2, "big"))), code)
    log = OperandLog()
    tracer = Tracer(Program(serialize(code)), log=log)
    for _ in range(2):
        tracer.run(serialize((b"abc", b"")))
        assert len(log.operands.compared) == MOST
    tracer.run(serialize((b"xyz", b"")))
    assert {left for left, _ in log.operands.compared} == {b"xyz"}
