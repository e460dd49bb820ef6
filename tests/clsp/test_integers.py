"""The operator models against CLVM itself: every edge by hypothesis, then pairs in bulk.

One run of CLVM judges thousands of pairs, each under all 18 operators, so that the normal
suite compares almost two hundred thousand results, and the long tests ten times as many.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channelsim.clsp import integers, values
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.operators import CODES, COMMON, MAX_SHIFT, OperatorError
from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised, run_serialized
from channelsim.clsp.values import (
    atom_to_int,
    int_to_atom,
    is_minimal,
    serialize,
    serialize_atom,
    to_list,
)
from tests.sampling import examples, one_in

BATCH = 5_000
BATCHES = 20
MAX_COST = 10**15
TRUE = b"\x01"


@cache
def judge() -> Program:
    return compile_source(Path(__file__).parent / "sources" / "judge_integers.clsp")


def answer(name: str, *operands: bytes) -> bytes:
    """What our operator of this name makes of atoms."""
    value = COMMON[CODES[name]].call(*operands)
    assert isinstance(value, bytes)
    return value


def described(a: bytes, b: bytes, count: int, start: int, end: int) -> bytes:
    """One item for the judge: the operands, and what every model answers; serialized."""
    divisor = b if atom_to_int(b) else b"\x0d"
    match COMMON[CODES["divmod"]].call(a, divisor):
        case (bytes(quotient), bytes(remainder)):
            pass
        case other:
            raise AssertionError(other)
    by, bounds = int_to_atom(count), (int_to_atom(start), int_to_atom(end))
    atoms = (
        a,
        b,
        divisor,
        by,
        *bounds,
        answer("+", a, b),
        answer("-", a, b),
        answer("*", a, b),
        answer("logand", a, b),
        answer("logior", a, b),
        answer("logxor", a, b),
        answer("lognot", a),
        quotient,
        remainder,
        answer("/", a, divisor),
        answer("%", a, divisor),
        answer(">", a, b),
        answer("=", a, b),
        answer("lsh", a, by),
        answer("ash", a, by),
        answer("strlen", a),
        answer("substr", a, *bounds),
        TRUE if is_minimal(a) else b"",
    )
    return b"\xff" + b"\xff".join([serialize_atom(atom) for atom in atoms]) + b"\x80"


def assert_right(items: list[bytes]) -> None:
    args = b"\xff" + b"".join([b"\xff" + item for item in items]) + b"\x80\x80"
    outcome = run_serialized(judge().serialized, args, max_cost=MAX_COST)
    if isinstance(outcome, ProgramValid):
        pytest.fail(f"a model differs from CLVM: {outcome.value!r}")
    assert isinstance(outcome, ProgramSlash), outcome


# Numbers around every place where a form changes, written in the fewest bytes and in more.
numbers = (
    st.integers(-300, 300)
    | st.sampled_from([sign * (1 << bits) for sign in (1, -1) for bits in range(300)]).flatmap(
        lambda power: st.integers(power - 2, power + 2)
    )
    | st.integers(-(1 << 260), 1 << 260)
)
atoms = st.binary(max_size=34) | st.builds(
    lambda number, more: (b"\xff" if number < 0 else b"\x00") * more + int_to_atom(number),
    numbers,
    st.integers(0, 3),
)


@examples(2)
@given(atoms, atoms, st.integers(-300, 300), st.data())
def test_every_operator_at_the_edges(a: bytes, b: bytes, count: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(a)))
    end = data.draw(st.integers(start, len(a)))
    assert_right([described(a, b, count, start, end)])


def lengths(random: Random) -> tuple[int, int]:
    """Half of all pairs are 16 bytes against 32, as in a deal; the rest is of all kinds."""
    kind = random.random()
    if kind < 0.5:
        return random.choice([(16, 32), (32, 16)])
    if kind < 0.65:
        return 32, 32
    if kind < 0.75:
        return 16, 16
    return random.randrange(36), random.randrange(36)


def bulk(seed: int) -> Iterator[bytes]:
    random = Random(seed)
    for _ in range(BATCH):
        len_a, len_b = lengths(random)
        a, b = random.randbytes(len_a), random.randbytes(len_b)
        if random.random() < 0.1:
            # Bytes that sign extension and shortening are about.
            a = random.choice([b"\x00", b"\xff", b"\x7f", b"\x80"]) + a[1:]
        if random.random() < 0.05:
            b = a[-len(b) :] if random.random() < 0.5 else a
        start = random.randint(0, len(a))
        yield described(a, b, random.randint(-40, 40), start, random.randint(start, len(a)))


@pytest.mark.parametrize("seed", one_in(10, range(BATCHES)))
def test_pairs_in_bulk(seed: int) -> None:
    """Batches of 5,000 pairs under 18 operators."""
    assert_right(list(bulk(seed)))


@pytest.mark.parametrize("place", range(6, 24))
def test_the_judge_notices_every_wrong_answer(place: int) -> None:
    """A judge that let everything pass would make the tests above worthless."""
    right = described(b"\x80" * 16, b"\x7f" * 32, -3, 2, 5)
    parts = _parts(right)
    parts[place] += b"\x01"
    wrong = b"\xff" + b"\xff".join(map(serialize_atom, parts)) + b"\x80"
    with pytest.raises(pytest.fail.Exception, match="differs from CLVM"):
        assert_right([right, wrong, right])


def _parts(item: bytes) -> list[bytes]:
    from channelsim.clsp.values import deserialize, from_list

    parts = from_list(deserialize(item))
    return [part for part in parts if isinstance(part, bytes)]


@given(numbers)
@example(0)
def test_numbers_are_written_in_the_fewest_bytes(number: int) -> None:
    atom = int_to_atom(number)
    assert atom_to_int(atom) == number
    assert is_minimal(atom)
    if atom:
        assert atom_to_int(atom[1:]) != number or len(atom) == 1
    assert not is_minimal((b"\xff" if number < 0 else b"\x00") + atom)


def clvm(operator: int, *operands: bytes) -> bytes | None:
    """One operator on constants, run by CLVM; None when it raises."""
    quoted = [(b"\x01", operand) for operand in operands]
    program = serialize(to_list([int_to_atom(operator), *quoted]))
    match run_serialized(program, b"\x80"):
        case ProgramValid(value):
            assert isinstance(value, bytes)
            return value
        case ProgramSlash():
            return b""
        case Raised():
            return None
    raise AssertionError("too expensive")


@given(atoms, st.integers(-40, 40), st.none() | st.integers(-40, 40))
def test_substr_raises_where_clvms_does(atom: bytes, start: int, end: int | None) -> None:
    bounds = [int_to_atom(at) for at in (start, end) if at is not None]
    try:
        ours: bytes | None = answer("substr", atom, *bounds)
    except OperatorError:
        ours = None
    assert ours == clvm(12, atom, *bounds)


@pytest.mark.parametrize("zero", [b"", b"\x00", b"\x00\x00"])
def test_dividing_by_zero_raises(zero: bytes) -> None:
    for name in ("/", "divmod", "%"):
        with pytest.raises(OperatorError):
            COMMON[CODES[name]].call(b"\x05", zero)
        assert clvm(CODES[name][0], b"\x05", zero) is None


@pytest.mark.parametrize("count", [MAX_SHIFT, -MAX_SHIFT, MAX_SHIFT + 1, -MAX_SHIFT - 1])
@pytest.mark.parametrize("name", ["ash", "lsh"])
def test_shifts_are_bounded(name: str, count: int) -> None:
    for atom in (b"\x05", b"\xfb"):
        try:
            ours: bytes | None = answer(name, atom, int_to_atom(count))
        except OperatorError:
            ours = None
        assert ours == clvm(CODES[name][0], atom, int_to_atom(count))
        assert (ours is None) == (abs(count) > MAX_SHIFT)


@given(atoms)
def test_only_the_empty_atom_is_false(atom: bytes) -> None:
    assert answer("i", atom, TRUE, b"") == clvm(3, atom, TRUE, b"")
    assert answer("not", atom) == clvm(32, atom)


def test_the_former_name_has_the_same_functions() -> None:
    for name in integers.__all__:
        assert getattr(integers, name) is getattr(values, name)
