"""The code of a program: expressions, functions, and the uses of their values."""

from __future__ import annotations

from channelsim.channel.lab.mutants.expressions import Module, path, spans, steps
from channelsim.channel.lab.targets.target import REFEREE, of_game
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.analysis.disassembly import Disassembly
from channelsim.clsp.values import int_to_atom, serialize
from channelsim.games import registry
from tests.channel.lab.mutants.programs import module, program, q
from tests.channel.lab.mutants.subtrees import subtree
from tests.menu import each_game


def texts(found: Module, tested: bool = False) -> list[str]:
    text = Disassembly(found.code)
    every = found.expressions()
    return [text.operand(e.value, e.place, 99) for e in every if e.tested or not tested]


def test_paths_and_ways_say_the_same() -> None:
    for number in range(1, 600):
        atom = int_to_atom(number)
        assert path(steps(atom)) == atom


def test_every_expression_stands_where_it_says() -> None:
    target = of_game(registry.get("calpoker"))
    for name, one in target.programs.items():
        root = one.value
        places = spans(root)
        found = Module(root, target.symbols[name]).expressions()
        for expression in found:
            assert subtree(root, expression.at) == expression.value
            start, end = places[expression.at]
            assert one.serialized[start:end] == serialize(expression.value)
        assert len({expression.at for expression in found}) == len(found)


@each_game
def test_the_code_is_the_code_that_the_tracer_knows(game: str) -> None:
    target = of_game(registry.get(game))
    everything = {**target.programs, REFEREE: target.referee}
    for name, one in everything.items():
        mine = Module(one.value, target.symbols.get(name)).expressions()
        operators = [e for e in mine if isinstance(e.value, tuple) and e.value[0] != b"\x01"]
        assert len(operators) == len(Code(one.value, target.symbols.get(name)).expressions)


def test_called_code_is_a_function() -> None:
    # main calls the first function, which calls the second; 9 is a constant beside no code.
    made = module((2, 4, (4, 2, (4, 3, 0))), (2, 6, (4, 2, (4, 5, 0))), (16, 5, q(9)))
    found = Module(made.value)
    assert [function.name.split()[0] for function in found.bodies.values()] == [
        *("main", "function", "function"),
    ]
    assert "(+ @5 9)" in texts(found)


def test_quoted_data_is_no_code_and_quoted_branches_are() -> None:
    choice = program((2, (3, 2, q((16, 5, 11)), q((17, 5, 11))), 1))
    assert texts(Module(choice.value)) == [
        *("(if @2 (+ @5 @11) (- @5 @11))", "(i @2 '(+ @5 @11) '(- @5 @11))"),
        *("@2", "'(+ @5 @11)", "(+ @5 @11)", "@5", "@11"),
        *("'(- @5 @11)", "(- @5 @11)", "@5", "@11", "@1"),
    ]
    data = program((3, 2, q((16, 5, 11)), q(7)))
    assert "(+ @5 @11)" not in texts(Module(data.value))


def test_values_that_are_only_tested() -> None:
    asked = (2, 6, (4, 2, (4, 5, 0)))
    answer = (2, (3, 5, q(q(7)), q(q(0))), 1)
    only = module((3, (2, 4, (4, 2, (4, 5, 0))), q(8), q(9)), asked, answer)
    assert "7" in texts(Module(only.value), tested=True)
    # Where its result is used too, it is more than tested.
    both = (16, (2, 4, (4, 2, (4, 5, 0))), (3, (2, 4, (4, 2, (4, 5, 0))), q(8), q(9)))
    wanted = module(both, asked, answer)
    assert "7" in texts(Module(wanted.value))
    assert "7" not in texts(Module(wanted.value), tested=True)
