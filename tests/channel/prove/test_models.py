"""Each model of an operator against CLVM itself, on random operands and at their edges."""

from __future__ import annotations

import pytest
import z3

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.inputs import concrete
from channelsim.channel.prove.models.table import MODELS
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import (
    Bytes,
    Number,
    Raises,
    Symbolic,
    Truth,
    Undecided,
    as_number,
    make_number,
)
from channelsim.clsp.operators import CODES, COMMON, QUOTE
from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramRaised, evaluate
from channelsim.clsp.values import Value, int_to_atom, serialize, to_list

TRIES = 150
EDGES = (0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 32767, -32768, 65535, 1 << 62, -(1 << 63))
COUNTS = (0, 1, 2, 3, 7, 8, 9, -1, -7, -8, -9, 16, -64)
POSITIONS = (0, 0, 1, 1, 2, 3, -1)
OPERANDS = {name: (COMMON[CODES[name]].least, min(COMMON[CODES[name]].most, 3)) for name in MODELS}


def test_every_operator_has_a_model() -> None:
    assert set(MODELS) == {operator.name for operator in COMMON.values()}


def drawn(chance: FastChance) -> tuple[Value, Symbolic]:
    """An atom or a pair, and a symbol that stands for it."""
    lot = chance.below(6)
    if lot == 0:
        return (b"left", b"right"), (b"left", b"right")
    if lot == 1:
        truth = chance.below(2) == 1
        return (b"\x01" if truth else b""), Truth(z3.BoolVal(truth))
    if lot in (2, 3):
        number = chance.pick(EDGES) if chance.below(2) else chance.between(-300, 300)
        room = chance.pick((0, 5, 1 << 9, 1 << 70))
        least, most = number - room, number + room + 1
        bits = as_number(int_to_atom(max(least, most, key=abs))).term.size() + 1
        symbol = Number(z3.BitVecVal(number, bits), least, most)
        return int_to_atom(number), trimmed(symbol)
    size = chance.pick((1, 1, 2, 3, 5))
    data = chance.pick((b"\x00", b"\xff", b"\x80", b"\x7f", b"\x05")) + chance.bytes(size - 1)
    return data, Bytes(z3.BitVecVal(int.from_bytes(data, "big"), 8 * size), size)


def trimmed(number: Number) -> Number:
    made = make_number(number.term, number.least, number.most)
    assert isinstance(made, Number)
    return made


def by_clvm(name: str, operands: list[Value]) -> Value | None:
    """The operator's value, None if it raises."""
    program = to_list([CODES[name], *((QUOTE, operand) for operand in operands)])
    try:
        return evaluate(Program(serialize(program)), b"")
    except ProgramRaised:
        return None


def by_model(name: str, operands: list[Symbolic]) -> Value | None:
    path = Path(None, (), float("inf"))
    try:
        value = MODELS[name](path, *operands)
    except Raises:
        return None
    check_bounds(value)
    return concrete(value, {}, z3.simplify)


def check_bounds(value: Symbolic) -> None:
    """A number is within its bounds, and its term has just the bits for them."""
    if isinstance(value, tuple):
        for part in value:
            check_bounds(part)
    elif isinstance(value, Number):
        assert value.least <= z3.simplify(value.term).as_signed_long() <= value.most
        assert value.term.size() == trimmed(value).term.size()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_model_is_the_operator(name: str) -> None:
    chance = FastChance(name.encode())
    least, most = OPERANDS[name]
    values = raised = 0
    for _ in range(TRIES):
        pairs = [drawn(chance) for _ in range(chance.between(least, most))]
        if name in ("ash", "lsh", "substr"):
            # Most other counts are out of range.
            for at in range(1, len(pairs)):
                if chance.below(4):
                    count = int_to_atom(chance.pick(COUNTS))
                    pairs[at] = count, as_number(count)
        expected = by_clvm(name, [value for value, _ in pairs])
        try:
            actual = by_model(name, [symbol for _, symbol in pairs])
        except Undecided:
            continue
        assert actual == expected, (name, pairs)
        values += expected is not None
        raised += expected is None
    assert values >= 10 or name == "x"
    assert raised >= 10 or name in ("c", "i", "l", "not", "any", "all")


@pytest.mark.parametrize("name", ["+", "-", "*", "/", "%", "logand", "logior", "logxor", ">"])
def test_numbers_do_not_wrap(name: str) -> None:
    for a in EDGES:
        for b in (*EDGES, (1 << 271) - 1):
            atoms = [int_to_atom(a), int_to_atom(b)]
            assert by_model(name, [as_number(atom) for atom in atoms]) == by_clvm(
                name, list(atoms)
            ), (a, b)


def test_a_number_of_too_many_bits_is_undecided() -> None:
    path = Path(None, (), float("inf"))
    large = Bytes(z3.BitVecVal(1, 8 * 200), 200)
    with pytest.raises(Undecided, match=r"a number of \d+ bits"):
        MODELS["*"](path, large, large)
