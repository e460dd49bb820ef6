"""The four ways in which a run ends."""

from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.clsp import run as running
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import Program, UnknownProgram, load, names
from channelsim.clsp.run import (
    FEWEST_PAIRS,
    MAX_COST,
    MAX_PAIRS,
    MOST_BYTES,
    MOST_PAIRS,
    CostExceeded,
    ProgramRaised,
    ProgramSlash,
    ProgramValid,
    Raised,
    TooLarge,
    evaluate,
    is_cut_off,
    items,
    observed,
    read_node,
    remembered,
    run,
    run_serialized,
    to_value,
)
from channelsim.clsp.values import (
    MAX_BYTES,
    NIL,
    BadValue,
    NotAList,
    Value,
    deserialize,
    serialize,
    to_list,
)

RETURN_ENVIRONMENT = Program(b"\x01")
RAISE = Program(bytes.fromhex("ff0880"))
# (a (q 2 1 1) (q 2 1 1)): runs itself for ever.
FOR_EVER = Program(bytes.fromhex("ff02ffff01ff02ff01ff0180ffff01ff02ff01ff018080"))
MODPOW = Program(bytes.fromhex("ff3cffff0102ffff0103ffff010580"))


def test_a_value_is_valid() -> None:
    outcome = run(RETURN_ENVIRONMENT, (b"a", b"b"))
    assert isinstance(outcome, ProgramValid)
    assert outcome.value == (b"a", b"b")
    assert outcome == run_serialized(b"\x01", serialize((b"a", b"b")))
    assert outcome == ProgramValid((b"a", b"b"), outcome.cost)
    assert hash(outcome) == hash(ProgramValid((b"a", b"b"), outcome.cost))
    assert outcome != ProgramValid((b"a", b"c"), outcome.cost)


def test_nil_is_a_slash_and_no_other_atom_is() -> None:
    assert isinstance(run(RETURN_ENVIRONMENT, NIL), ProgramSlash)
    assert isinstance(run_serialized(RETURN_ENVIRONMENT.serialized, b"\x80"), ProgramSlash)
    # An atom is its bytes, whatever they look like: here those of a serialized nil, and zero.
    serialized_nil = run(RETURN_ENVIRONMENT, b"\x80")
    assert isinstance(serialized_nil, ProgramValid)
    assert serialized_nil.value == b"\x80"
    assert isinstance(run(RETURN_ENVIRONMENT, b"\x00"), ProgramValid)


def test_a_raise_differs_from_a_run_that_costs_too_much() -> None:
    assert run(RAISE, NIL) == Raised("clvm raise")
    assert run(FOR_EVER, NIL, max_cost=1_000_000) == CostExceeded()


def test_a_run_just_within_its_cost_is_valid() -> None:
    outcome = run(load("channel/unroll"), _unroll_args())
    assert isinstance(outcome, ProgramValid)
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
def test_bytes_that_are_no_clvm_are_the_callers_mistake(program: bytes, args: bytes) -> None:
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


# --- reading within limits -----------------------------------------------------------------------


def test_a_result_is_read_up_to_its_limits_and_no_further() -> None:
    three = read_node(serialize(to_list([b"a", b"bb", b"ccc"])))
    assert to_value(three, max_pairs=3, max_atom_bytes=6) == to_list([b"a", b"bb", b"ccc"])
    with pytest.raises(TooLarge, match="2 pairs"):
        to_value(three, max_pairs=2)
    with pytest.raises(TooLarge, match="5 bytes"):
        to_value(three, max_atom_bytes=5)


def test_shared_parts_count_each_time_that_they_occur() -> None:
    """Sixty pairs that describe 2^60: each the pair of the one before with itself."""
    twice: Value = (b"\x01", to_list([b"\x04", b"\x01", b"\x01"]))
    program: Value = b"\x01"
    for _ in range(60):
        program = to_list([b"\x02", twice, program])
    outcome = run_serialized(serialize(program), serialize(b"x"))
    assert isinstance(outcome, Raised)
    assert str(MAX_PAIRS) in outcome.error


def test_who_gives_a_run_less_cost_reads_less_of_its_result() -> None:
    long = serialize(to_list([b"x"] * (2 * FEWEST_PAIRS)))
    assert isinstance(run_serialized(b"\x01", long), ProgramValid)
    few = run_serialized(b"\x01", long, MAX_COST // 100)
    assert isinstance(few, Raised)
    assert str(FEWEST_PAIRS) in few.error
    short = serialize(to_list([b"x"] * (FEWEST_PAIRS - 1)))
    assert isinstance(run_serialized(b"\x01", short, MAX_COST // 100), ProgramValid)


def test_a_run_that_fills_the_memory_is_cut_off(tmp_path: Path) -> None:
    source = tmp_path / "doubles.clsp"
    source.write_text("(mod (x) (defun twice (x) (twice (concat x x))) (twice x))")
    outcome = run(compile_source(source), to_list([b"some bytes"]))
    assert isinstance(outcome, Raised)
    assert is_cut_off(outcome)
    assert not is_cut_off(run(RAISE, NIL))


def test_the_items_of_a_list_are_not_read() -> None:
    deep: Value = NIL
    for _ in range(100_000):
        deep = (deep, NIL)
    found = items(read_node(serialize(to_list([deep, b"x"]))), 2)
    assert [item.atom for item in found] == [None, b"x"]
    with pytest.raises(TooLarge, match="more than 1 items"):
        items(read_node(serialize(to_list([b"a", b"b"]))), 1)
    with pytest.raises(NotAList):
        items(read_node(serialize((b"a", b"b"))), 5)
    assert items(read_node(b"\x80"), 0) == []


def test_bytes_over_the_limit_are_not_read() -> None:
    longest = serialize(bytes(MAX_BYTES - 4))
    assert len(longest) == MAX_BYTES
    assert deserialize(longest) == read_node(longest).atom
    for read in (deserialize, read_node):
        with pytest.raises(BadValue, match="at most"):
            read(longest + b"\x80")
        with pytest.raises(BadValue):
            read(b"\xff\x80")


def test_what_is_large_is_not_remembered() -> None:
    program = RETURN_ENVIRONMENT.serialized
    with remembered():
        for size, known in ((MOST_BYTES - 8, True), (MOST_BYTES + 1, False)):
            args = serialize(bytes(size))
            assert (run_serialized(program, args) is run_serialized(program, args)) is known
        value: Value = b""
        for number in range(MOST_PAIRS + 1):
            value = (b"\x01", value)
            if number >= MOST_PAIRS - 1:
                args = serialize(value)
                known = number < MOST_PAIRS
                assert (run_serialized(program, args) is run_serialized(program, args)) is known


def test_the_runs_that_were_asked_for_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_REMEMBERED", 2)
    program = RETURN_ENVIRONMENT.serialized
    with remembered():
        first, second, _ = (run_serialized(program, serialize(bytes([n]))) for n in (1, 2, 3))
        assert run_serialized(program, serialize(b"\x02")) is second
        run_serialized(program, serialize(b"\x04"))
        assert run_serialized(program, serialize(b"\x02")) is second
        assert run_serialized(program, serialize(b"\x01")) is not first


def test_a_remembered_run_is_counted_and_gives_the_same() -> None:
    program, args = bytes.fromhex("ff10ff02ff0580"), serialize((b"\x02", (b"\x03", b"")))
    seen = list[tuple[bytes, bytes]]()
    with observed(lambda *what: seen.append(what)), remembered(), remembered():
        first = run_serialized(program, args)
        assert run_serialized(program, args) is first
        assert run_serialized(program, args, 800) == CostExceeded()
        assert run_serialized(program, serialize((b"\x02", (b"\x04", b"")))) != first
    assert len(seen) == 4
    again = run_serialized(program, args)
    assert again == first
    assert again is not first
