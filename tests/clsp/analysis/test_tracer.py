"""Our tracing interpreter says what the node's says, and reaches what a third one reaches."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.analysis.disassembly import Disassembly
from channelsim.clsp.analysis.tracer import Reach, Returned, Stopped, TooDeep, Tracer
from channelsim.clsp.operators import NAMES
from channelsim.clsp.programs import Program, load
from channelsim.clsp.run import CostExceeded, ProgramSlash, ProgramValid, Raised, run_serialized
from channelsim.clsp.values import BadValue, Value, deserialize, serialize, to_list
from channelsim.games import registry
from tests.clsp.coins import Game, condition, conditions_of, infohash, unroll, with_timeout
from tests.clsp.helpers import VECTORS
from tests.clsp.oracle import Oracle
from tests.sampling import examples, one_in

GAMES = {path.stem: path for path in sorted(VECTORS.glob("*.jsonl"))}
FAMILIES = {game: registry.get(game).family for game in GAMES}
"""Whose programs a game is played with."""

PROGRAMS = sorted(
    {
        f"{FAMILIES[game]}/{json.loads(line)['validator']}"
        for game, path in GAMES.items()
        for line in path.read_text("utf-8").splitlines()
    }
)


SLOW = ("spacepoker/end", "calpoker/e", "poker/end", "poker/score")
"""Those that compare hands."""


def value_of(described: object, game: str) -> Value:
    match described:
        case int():
            size = (described + (described < 0)).bit_length() // 8 + 1
            return described.to_bytes(size, "big", signed=True) if described else b""
        case str():
            return bytes.fromhex(described.removeprefix("0x"))
        case list():
            return to_list(value_of(item, game) for item in described)
        case {"pair": [left, right]}:
            return value_of(left, game), value_of(right, game)
        case {"program": name}:
            return load(f"{FAMILIES[game]}/{name}").hash
    raise AssertionError(f"no value: {described!r}")


def calls(name: str) -> list[tuple[str, bytes]]:
    """The conformance cases of a validator: tag with outcome, and the environment in bytes."""
    family, validator = name.split("/")
    program = load(name)
    found = []
    cases = [
        (game, json.loads(line))
        for game, path in GAMES.items()
        if FAMILIES[game] == family
        for line in path.read_text("utf-8").splitlines()
    ]
    for game, case in cases:
        if case["validator"] != validator:
            continue
        curried = [b"\xaa" * 48, b"\xbb" * 48, 15, case["amount"], b"\xcc" * 32, 4]
        curried += [bytes.fromhex(case["move"]), 0, b"", case["mover_share"], b"\x78"]
        fields = [item if isinstance(item, bytes) else value_of(item, game) for item in curried]
        state, evidence = value_of(case["state"], game), value_of(case["evidence"], game)
        whole = [program.hash, to_list(fields), state, program.value, evidence, b"\xee" * 32]
        found.append((case["tag"] + case["expect"], serialize(to_list(whole))))
    return found


def assert_agreed(program: Program, arguments: bytes, tracer: Tracer | None = None) -> None:
    said = (tracer or Tracer(program)).run(arguments)
    match run_serialized(program.serialized, arguments):
        case ProgramValid(value):
            assert said == Returned(value)
        case ProgramSlash():
            assert said == Returned(b"")
        case Raised("too many pairs"):
            assert isinstance(said, Stopped), said
        case Raised():
            assert isinstance(said, Raised), said
        case CostExceeded():
            assert isinstance(said, Stopped), said


@pytest.mark.parametrize("stride", [42, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
def test_every_conformance_case_ends_as_on_the_node(name: str, stride: int) -> None:
    program = load(name)
    tracer = Tracer(program)
    slow = 9 if name in SLOW and stride > 1 else 1
    for _, arguments in calls(name)[:: stride * slow]:
        assert_agreed(program, arguments, tracer)


@pytest.mark.parametrize("stride", [21, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "name",
    # The third interpreter takes seconds for one comparison of two hands: one game's is enough.
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in SLOW))
        for name in PROGRAMS
        # It lacks the operators on points of the curve that open cards.
        if not name.startswith("poker/")
    ],
)
def test_it_reaches_what_a_third_interpreter_reaches(name: str, stride: int) -> None:
    program = load(name)
    tracer, oracle = Tracer(program), Oracle(program)
    assert (tracer.nodes, tracer.branches) == (len(oracle.nodes), 2 * len(oracle.choices))
    chosen = list(dict(calls(name)).values())
    slow = (60 if stride > 1 else 30) if name in SLOW else 1
    for arguments in chosen[:: stride * slow]:
        assert tracer.reach(arguments) == oracle.reach(arguments)


def test_the_referee_and_the_unroll() -> None:
    always = Program(serialize(to_list([b"\x01"])))
    game = Game(infohash_a=infohash(always, b"state"))
    timeout_form = with_timeout(15, conditions_of(5, condition(b"\x33", b"\x01" * 32, b"\x64")))
    solutions = [
        to_list([b"\x01" * 32, b"\x02" * 32]),
        to_list([b"\x01" * 32, b""]),
        to_list([b"move", b"\xc0" * 32, b"\x32", b"\x11"]),
        to_list([b"move", b"\xc0" * 31, b"\x32", b"\x11"]),
        to_list([b"state", always.value, b"", b"\x01" * 32]),
        to_list([b"other", always.value, b"", b"\x01" * 32]),
    ]
    puzzles = [(game.puzzle(), solution) for solution in solutions]
    puzzle = unroll(b"\xaa" * 48, 5, timeout_form)
    puzzles += [(puzzle, form) for form in (timeout_form, conditions_of(6), conditions_of(4))]
    for program, solution in puzzles:
        assert_agreed(program, serialize(solution))
        tracer = Tracer(program)
        # A solution that brings code of its own reaches nothing more in ours.
        assert tracer.reach(serialize(solution)) == Oracle(program).reach(serialize(solution))


def changed(blob: bytes, dice: Random) -> bytes:
    """A serialized value with one piece changed, moved or made an atom."""
    value = deserialize(blob)
    pieces = list(_pieces(value))
    place = dice.randrange(len(pieces))
    piece = pieces[place]
    new: Value
    match dice.randrange(4):
        case 0:
            new = dice.choice(pieces)
        case 1 if isinstance(piece, bytes) and piece:
            at = dice.randrange(len(piece))
            new = piece[:at] + bytes([piece[at] ^ 1 << dice.randrange(8)]) + piece[at + 1 :]
        case 2:
            new = bytes([dice.randrange(64)])
        case _:
            others: list[Value] = [b"", b"\x00", b"\x01\x00", (piece, b"")]
            new = dice.choice(others)
    return serialize(_replaced(value, [place], new))


def _pieces(value: Value) -> Iterator[Value]:
    yield value
    if isinstance(value, tuple):
        yield from _pieces(value[0])
        yield from _pieces(value[1])


def _replaced(value: Value, left: list[int], new: Value) -> Value:
    left[0] -= 1
    if left[0] == -1:
        return new
    if isinstance(value, tuple):
        first = _replaced(value[0], left, new)
        return (first, _replaced(value[1], left, new))
    return value


@pytest.mark.parametrize("times", [2, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["spacepoker/begin_round", "calpoker/c", "spacepoker/end"])
def test_changed_programs_and_arguments_end_as_on_the_node(name: str, times: int) -> None:
    dice = Random(name)
    chosen = list(dict(calls(name)).values())
    for _ in range(times):
        arguments, blob = dice.choice(chosen), load(name).serialized
        if dice.random() < 0.7:
            blob = changed(blob, dice)
        else:
            arguments = changed(arguments, dice)
        assert_agreed(Program(blob), arguments)


ATOMS = st.sampled_from(
    [
        *(b"", b"\x00", b"\x01", b"\x02", b"\x03", b"\x05", b"\x0b", b"\x80", b"\xff"),
        *(b"\x00\x80", b"\x00\x01", b"\xff\xff", b"\x7f\xff", b"abc", b"\x03" * 32),
        *(b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x01", b"\xff\xff\x00\x00", b"\x00\xff\xff"),
    ]
)
VALUES = st.recursive(ATOMS, lambda inner: st.tuples(inner, inner), max_leaves=6)
CODES = st.sampled_from([*NAMES, b"", b"\x3f", b"\x00\x10", b"\x01\x00\x00\x00"])


def expressions(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    quoted = st.tuples(st.just(b"\x01"), VALUES)
    lazy = st.tuples(st.just(b"\x01"), inner)
    operands = st.lists(st.one_of(inner, quoted), max_size=4)
    call = st.tuples(CODES, operands.map(to_list))
    branch = st.tuples(inner, lazy, lazy).map(lambda parts: to_list([b"\x03", *parts]))
    return st.one_of(
        call,
        call,
        call,
        branch.map(lambda choice: to_list([b"\x02", choice, b"\x01"])),
        st.tuples(lazy, inner).map(lambda parts: to_list([b"\x02", *parts])),
        st.tuples(st.tuples(CODES, ATOMS), operands.map(to_list)),
        st.tuples(CODES, st.tuples(inner, ATOMS)),
    )


@examples(1)
@given(st.recursive(ATOMS, expressions, max_leaves=12), VALUES)
def test_any_expression_ends_as_on_the_node(expression: Value, environment: Value) -> None:
    assert_agreed(Program(serialize(expression)), serialize(environment))


@examples(1)
@given(CODES, st.lists(VALUES, max_size=4))
def test_any_operator_answers_as_on_the_node(code: bytes, values: list[Value]) -> None:
    quoted = [(b"\x01", value) for value in values]
    assert_agreed(Program(serialize((code, to_list(quoted)))), b"\x80")


def test_a_run_without_end_is_stopped() -> None:
    # (a 2 (c 2 ())) with the environment holding itself as its own first.
    forever = deserialize(bytes.fromhex("ff02ff02ffff04ff02ffff01808080"))
    program = Program(serialize(forever))
    arguments = serialize((forever, b""))
    limit = sys.getrecursionlimit()
    assert Tracer(program).run(arguments, steps=50) == Stopped("more than 50 steps")
    assert isinstance(Tracer(program).run(arguments), Stopped)
    assert sys.getrecursionlimit() == limit
    nodes, branches = Tracer(program).reach(arguments, steps=50)
    assert (nodes, branches) == (frozenset({0, 1}), frozenset())


@pytest.mark.long
def test_atoms_that_grow_without_end_are_stopped() -> None:
    # (a 2 (c 2 (* 3 3))): the number is squared each time.
    grow = deserialize(bytes.fromhex("ff02ff02ffff04ff02ffff12ff03ff03808080"))
    said = Tracer(Program(serialize(grow))).run(serialize((grow, b"\x7f" * 32)))
    assert isinstance(said, Stopped)
    assert "bytes" in said.reason


def nested_ifs(depth: int) -> Program:
    node: Value = b"\x01"
    for _ in range(depth):
        choice = to_list([b"\x03", b"\x01", (b"\x01", node), (b"\x01", b"")])
        node = to_list([b"\x02", choice, b"\x01"])
    return Program(serialize(node))


def test_deep_programs_are_traced_and_the_deepest_are_refused() -> None:
    program = nested_ifs(1500)
    tracer = Tracer(program)
    assert_agreed(program, b"\x03", tracer)
    assert (tracer.nodes, tracer.branches) == (3000, 3000)
    assert len(tracer.reach(b"\x03").branches) == 1500
    text = Disassembly(tracer.code).text(tracer.code.root)
    assert len(text) < 2000
    assert "…" in text
    with pytest.raises(TooDeep):
        Tracer(nested_ifs(30_000))


def test_a_tracer_forgets_the_run_before() -> None:
    name = "spacepoker/commitA"
    tracer = Tracer(load(name))
    runs = [arguments for _, arguments in calls(name)]
    first = [tracer.reach(arguments) for arguments in runs]
    assert [tracer.reach(arguments) for arguments in reversed(runs)] == first[::-1]
    assert len(set(first)) > 1


def test_bytes_that_are_no_environment_are_refused() -> None:
    with pytest.raises(BadValue):
        Tracer(load("spacepoker/commitA")).run(b"\xff")


def test_a_copy_of_the_program_counts_as_the_program() -> None:
    # (a 2 3) of an environment whose first is (+ 1 (q . 1)): that code is not the program's own.
    program = Program(bytes.fromhex("ff02ff02ff0380"))
    foreign = bytes.fromhex("ff10ff01ffff010180")
    tracer = Tracer(program)
    assert tracer.run(b"\xff" + foreign + b"\x05") == Returned(b"\x06")
    assert tracer.reach(b"\xff" + foreign + b"\x05") == Reach(frozenset({0}), frozenset())
    # Here it is: the program runs itself, once.
    twice = Program(bytes.fromhex("ff02ffff03ff02ff02ffff01018080ff0380".replace("8080ff", "80ff")))
    assert Tracer(twice).reach(b"\xff" + twice.serialized + b"\x80").nodes == {0, 1}
