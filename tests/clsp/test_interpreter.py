"""A second interpreter, written in Python by others, agrees with the one that we use."""

import io
from typing import Any

import pytest
from clvm.EvalError import EvalError
from clvm.operators import OPERATOR_LOOKUP
from clvm.run_program import run_program
from clvm.serialize import sexp_from_stream, sexp_to_stream
from clvm.SExp import SExp

from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised, run
from channelsim.clsp.values import Value, deserialize, int_to_atom, serialize, to_list
from tests.clsp.coins import Game, condition, conditions_of, infohash, unroll, with_timeout
from tests.clsp.helpers import SPACE_POKER, curried_args, validator, validator_args
from tests.clsp.test_vectors import cases, value_of

MAX_COST = 10**12


def parsed(blob: bytes) -> Any:
    return sexp_from_stream(io.BytesIO(blob), SExp.to)


def interpreted(program: Program, args: Value) -> Value | None:
    """The result; None when the program raises."""
    try:
        _, result = run_program(
            parsed(program.serialized), parsed(serialize(args)), OPERATOR_LOOKUP, MAX_COST
        )
    except EvalError:
        return None
    stream = io.BytesIO()
    sexp_to_stream(result, stream)
    return deserialize(stream.getvalue())


def assert_agreed(program: Program, args: Value) -> None:
    match run(program, args):
        case ProgramValid(value):
            expected: Value | None = value
        case ProgramSlash():
            expected = b""
        case Raised():
            expected = None
        case other:
            pytest.fail(str(other))
    assert interpreted(program, args) == expected


SLOWEST_LATER = [
    pytest.param(name, marks=pytest.mark.long) if name == "end" else name for name in SPACE_POKER
]
"""A run of `end` takes this interpreter a second."""


def some_of_each_kind(name: str) -> list[dict[str, Any]]:
    """A third of the tags and outcomes, one vector each; fewer of the slow `end`."""
    kinds = {(case["tag"], case["expect"]): case for case in cases(name)}
    chosen = list(kinds.values())
    return chosen[:: 72 if name == "end" else 3]


@pytest.mark.parametrize("name", SLOWEST_LATER)
def test_validators(name: str) -> None:
    program = validator(name)
    for case in some_of_each_kind(name):
        curried = curried_args(
            amount=case["amount"],
            move=bytes.fromhex(case["move"]),
            share=int_to_atom(case["mover_share"]),
        )
        state, evidence = value_of(case["state"]), value_of(case["evidence"])
        assert_agreed(program, validator_args(program, curried, state, evidence))


def test_the_referee() -> None:
    always = Program(serialize(to_list([b"\x01"])))
    game = Game(infohash_a=infohash(always, b"state"))
    for solution in (
        [b"\x01" * 32, b"\x02" * 32],
        [b"\x01" * 32, b""],
        [b"move", b"\xc0" * 32, b"\x32", b"\x11"],
        [b"move", b"\xc0" * 31, b"\x32", b"\x11"],
        [b"state", always.value, b"", b"\x01" * 32],
        [b"other", always.value, b"", b"\x01" * 32],
    ):
        assert_agreed(game.puzzle(), to_list(solution))


def test_the_unroll() -> None:
    timeout_form = with_timeout(15, conditions_of(5, condition(b"\x33", b"\x01" * 32, b"\x64")))
    puzzle = unroll(b"\xaa" * 48, 5, timeout_form)
    for solution in (timeout_form, conditions_of(6), conditions_of(7), conditions_of(4)):
        assert_agreed(puzzle, solution)
