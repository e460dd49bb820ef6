"""The code of a program: never its data, but also functions that nothing calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.clsp import programs
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.analysis.shapes import looks_like_code
from channelsim.clsp.analysis.tracer import Returned, Tracer
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import SOURCE, Program, load, names
from channelsim.clsp.values import serialize, to_list
from tests.clsp.oracle import Oracle
from tests.sampling import one_in

HEAD = "(include *standard-cl-23*)"


@pytest.fixture
def compiled(tmp_path: Path, request: pytest.FixtureRequest) -> Program:
    path = tmp_path / "source.clsp"
    path.write_text(request.param, "utf-8")
    return compile_source(path)


@pytest.mark.parametrize("name", one_in(4, names()))
def test_ours_have_the_same_code_with_names_without_and_to_another_reader(name: str) -> None:
    program = load(name)
    oracle = Oracle(program)
    for names_of_functions in (programs.symbols(program), None):
        code = Code(program.value, names_of_functions)
        assert len(code.expressions) == len(oracle.nodes)
        assert len(code.choices) == len(oracle.choices)


def test_functions_own_the_code_written_in_them() -> None:
    made = compile_source(SOURCE / "spacepoker" / "end.clsp")
    code = Code(made.value, made.symbols)
    functions = {function.name: function for function in code.functions}
    assert code.functions[0].name == "main"
    assert functions["draw"].arguments == "(number n tail)"
    assert set(code.owners) == set(functions)
    assert code.owners.count("draw") == 14
    assert {"popcount", "showdown", "compare", "is_mask"} <= set(functions)
    unnamed = Code(made.value)
    assert len(unnamed.functions) == len(code.functions)
    assert all(function.name.startswith(("main", "function ")) for function in unnamed.functions)


QUOTED = f"(mod (X) {HEAD} (if X (q 16 2 5) (q 17 2 5)))"


@pytest.mark.parametrize("compiled", [QUOTED], indirect=True)
def test_data_that_is_built_like_code_is_none(compiled: Program) -> None:
    code = Code(compiled.value, compiled.symbols)
    operators = {node[0] for node in code.expressions if isinstance(node, tuple)}
    assert b"\x10" not in operators
    assert len(code.choices) == 1
    assert looks_like_code(to_list([b"\x10", b"\x02", b"\x05"]))


DEAD = f"(mod (X) {HEAD} (defun used (a) (* a 3)) (defun other (a) (used (+ a 1))) (other X))"


@pytest.mark.parametrize("compiled", [DEAD], indirect=True)
def test_a_function_that_nothing_calls_is_code(compiled: Program) -> None:
    """Compilers drop it; so one is called from a place that is never reached."""
    whole = compiled.value
    match whole:
        # (a (q . main) (c (q . functions) 1)), with a main that calls nothing.
        case (a, ((q, _main), rest)):
            program = Program(serialize((a, ((q, b"\x05"), rest))))
    for symbols in (compiled.symbols, None):
        tracer = Tracer(program, symbols)
        reach = tracer.reach(serialize(to_list([b"\x07"])))
        owners = {tracer.code.owners[node] for node in range(tracer.nodes)}
        assert len(owners) == 3
        assert {tracer.code.owners[node] for node in reach.nodes} == {"main"}


LAMBDAS = f"""(mod (X Y) {HEAD}
    (defun map (go items) (if items (c (a go (list (f items))) (map go (r items))) ()))
    (defun twice (n) (* 2 n))
    (c (map (lambda ((& Y) n) (+ n Y)) X) (map twice X)))"""


@pytest.mark.parametrize("compiled", [LAMBDAS], indirect=True)
def test_functions_that_are_passed_around_are_found(compiled: Program) -> None:
    for symbols in (compiled.symbols, None):
        tracer = Tracer(compiled, symbols)
        arguments = serialize(to_list([to_list([b"\x03", b"\x04"]), b"\x0a"]))
        expected = (to_list([b"\x0d", b"\x0e"]), to_list([b"\x06", b"\x08"]))
        assert tracer.run(arguments) == Returned(expected)
        assert tracer.reach(arguments).nodes == set(range(tracer.nodes))


MODULE = """(include *standard-cl-23*)
(import std.prelude exposing if list)
(defun fact (n) (if n (* n (fact (- n 1))) 1))
(export (X) (fact X))
"""


@pytest.mark.parametrize("compiled", [MODULE], indirect=True)
def test_a_module(compiled: Program) -> None:
    for symbols in (compiled.symbols, None):
        tracer = Tracer(compiled, symbols)
        arguments = serialize(to_list([b"\x04"]))
        assert tracer.run(arguments) == Returned(b"\x18")
        nodes, branches = tracer.reach(arguments)
        assert nodes == set(range(tracer.nodes))
        assert branches == {0, 1}
