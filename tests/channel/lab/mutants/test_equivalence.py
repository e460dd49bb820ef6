"""Changes that nothing can see are recognised, and those that somebody can see are not."""

from __future__ import annotations

from channelsim.channel.lab.mutants.equivalence import Equivalence
from channelsim.channel.lab.mutants.expressions import Expression, Module
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value
from tests.channel.lab.mutants.programs import Written, code, module, program, q


def seen(made: Program, old: Written, new: Written, nth: int = 0) -> bool:
    """True if a change of the nth such expression may be seen."""
    found = Module(made.value)
    places = [e for e in found.expressions() if e.value == code(old)]
    return not Equivalence(found)(places[nth], code(new))


def first(made: Program, written: Written) -> tuple[Module, Expression]:
    found = Module(made.value)
    return found, next(e for e in found.expressions() if e.value == code(written))


CALL = (2, 2, (4, 2, (4, 5, (4, q(7), 0))))


def test_an_unread_end_of_arguments_may_change() -> None:
    adds = module(CALL, (16, 5, 11))
    assert not seen(adds, 0, q(1))
    assert not seen(adds, 0, q(-1))
    # Not read either: the second argument.
    assert not seen(module(CALL, (16, 5, 5)), q(7), q(8))
    assert seen(adds, q(7), q(8))


def test_arguments_that_are_taken_whole_are_read() -> None:
    assert seen(module(CALL, (4, 3, 0)), 0, q(1))
    # Handed on whole, to a function that reads one of them.
    handing = (2, 6, (4, 2, (4, 3, 0)))
    reading = module((2, 4, (4, 2, (4, 5, (4, q(7), 0)))), handing, (16, 9, 9))
    assert not seen(reading, q(7), q(8))
    assert not seen(reading, 0, q(8))
    taking = module((2, 4, (4, 2, (4, 5, (4, q(7), 0)))), handing, (16, 21, 9))
    assert seen(taking, q(7), q(8))


def test_a_path_that_may_raise_is_no_constant() -> None:
    call = (2, 2, (4, 2, (4, 5, (4, 11, 0))))
    unread = module(call, (16, 5, 5))
    # 11 may be a way into an atom: without it the program answers where it raised.
    assert seen(unread, 11, q(1))
    assert seen(unread, 0, 23)
    functions = module((2, 2, (4, 2, (4, 5, 0))), (16, 5, 5))
    assert seen(functions, 2, 3, nth=0)  # which function is called
    assert not seen(functions, 2, 3, nth=1)


def test_one_truth_for_another() -> None:
    made = program((3, (2, (3, 2, q(q(1)), q(q(0))), 1), q(7), q(8)))
    assert not seen(made, q(1), q(2))
    assert seen(made, q(1), 0)
    assert seen(made, q(7), q(9))


def test_what_adds_nothing() -> None:
    assert not seen(program((16, 2, 0)), (16, 2, 0), (17, 2, 0))
    assert seen(program((16, 2, 5)), (16, 2, 5), (17, 2, 5))
    assert seen(program((16, 2, q(1))), (16, 2, q(1)), (17, 2, q(1)))
    hashed: Written = (11, q(1), 0)
    assert not seen(program(hashed), hashed, (11, 0, q(1)))
    assert seen(program((11, q(1), q(2))), (11, q(1), q(2)), (11, q(2), q(1)))
    assert seen(program((11, 2, 5)), (11, 2, 5), (11, 5, 2))


def test_a_function_that_is_handed_on_as_a_value_may_be_wanted() -> None:
    # The environment is all taken: whoever has it may run what is in it.
    function: Value = code((2, (3, 5, q(q(1)), q(q(0))), 1))
    made = module((3, (2, 4, (4, 2, (4, 3, 0))), 4, q(8)), (3, 5, q(1), 0), (16, 5, 5))
    assert isinstance(function, tuple)
    found, one = first(made, q(1))
    assert not Equivalence(found)(one, code(0))
    assert not one.tested
