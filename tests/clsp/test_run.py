"""The four ways in which a run ends."""

from hashlib import sha256

import pytest

from clsp.programs import Program, UnknownProgram, load, names
from clsp.run import (
    MAX_COST,
    CostExceeded,
    ProgramRaised,
    Raised,
    Slash,
    Valid,
    evaluate,
    run,
    run_serialized,
)
from clsp.values import NIL, BadValue, Value, serialize, to_list

RETURN_ENVIRONMENT = Program(b"\x01")
RAISE = Program(bytes.fromhex("ff0880"))
# (a (q 2 1 1) (q 2 1 1)): runs itself for ever.
FOR_EVER = Program(bytes.fromhex("ff02ffff01ff02ff01ff0180ffff01ff02ff01ff018080"))
MODPOW = Program(bytes.fromhex("ff3cffff0102ffff0103ffff010580"))


def test_a_value_is_valid() -> None:
    outcome = run(RETURN_ENVIRONMENT, (b"a", b"b"))
    assert isinstance(outcome, Valid)
    assert outcome.value == (b"a", b"b")
    assert outcome == run_serialized(b"\x01", serialize((b"a", b"b")))
    assert outcome == Valid((b"a", b"b"), outcome.cost)
    assert hash(outcome) == hash(Valid((b"a", b"b"), outcome.cost))
    assert outcome != Valid((b"a", b"c"), outcome.cost)
    assert outcome != Slash(outcome.cost)


def test_nil_is_a_slash_and_no_other_atom_is() -> None:
    assert isinstance(run(RETURN_ENVIRONMENT, NIL), Slash)
    assert isinstance(run_serialized(RETURN_ENVIRONMENT.serialized, b"\x80"), Slash)
    # An atom is its bytes, whatever they look like: here those of a serialized nil, and zero.
    serialized_nil = run(RETURN_ENVIRONMENT, b"\x80")
    assert isinstance(serialized_nil, Valid)
    assert serialized_nil.value == b"\x80"
    assert isinstance(run(RETURN_ENVIRONMENT, b"\x00"), Valid)


def test_a_raise_is_told_from_a_run_that_costs_too_much() -> None:
    assert run(RAISE, NIL) == Raised("clvm raise")
    assert run(FOR_EVER, NIL, max_cost=1_000_000) == CostExceeded()


def test_a_run_just_within_its_cost_is_valid() -> None:
    outcome = run(load("channel/unroll"), _unroll_args())
    assert isinstance(outcome, Valid)
    assert run(load("channel/unroll"), _unroll_args(), max_cost=outcome.cost) == outcome
    assert run(load("channel/unroll"), _unroll_args(), max_cost=outcome.cost - 1) == (
        CostExceeded()
    )
    assert outcome.cost < MAX_COST


def _unroll_args() -> Value:
    conditions = to_list([to_list([b"\x01", b"\x02"])])
    return (b"\xaa" * 48, (b"\x01", (sha256(b"\x01").digest(), conditions)))


def test_the_strict_flags_refuse_what_a_mempool_refuses() -> None:
    assert isinstance(run(MODPOW, NIL), Raised)
    assert isinstance(run(Program(bytes.fromhex("ff3dff8080")), NIL), Raised)


@pytest.mark.parametrize(
    ("program", "args"), [(b"", b"\x80"), (b"\xff\x01", b"\x80"), (b"\x01", b"\xff")]
)
def test_what_is_no_clvm_is_the_callers_mistake(program: bytes, args: bytes) -> None:
    with pytest.raises(BadValue):
        run_serialized(program, args)


def test_evaluate_gives_the_value_or_the_reason() -> None:
    assert evaluate(RETURN_ENVIRONMENT, (b"a", NIL)) == (b"a", NIL)
    assert evaluate(RETURN_ENVIRONMENT, NIL) == NIL
    with pytest.raises(ProgramRaised, match="clvm raise"):
        evaluate(RAISE, NIL)
    with pytest.raises(ProgramRaised, match="more than 1000"):
        evaluate(FOR_EVER, NIL, max_cost=1000)


def test_programs_are_loaded_once_and_by_exact_name() -> None:
    assert load("channel/referee") is load("channel/referee")
    assert "channel/unroll" in names()
    for bad in ("", "end", "spacepoker", "spacepoker/../channel/unroll", "spacepoker/end.hex"):
        with pytest.raises(UnknownProgram, match=r"there are .*channel/referee"):
            load(bad)


def test_a_program_knows_its_hash_and_value() -> None:
    program = load("spacepoker/end")
    assert serialize(program.value) == program.serialized
    assert program == Program(program.serialized)
    assert program.hash.hex()[:8] in repr(program)
