"""The unroll's rules, each met and each broken, by running the puzzle."""

import pytest

from channelsim.clsp.run import ProgramRaised, evaluate
from channelsim.clsp.values import NIL, Value, from_list, int_to_atom, to_list, tree_hash
from tests.clsp.coins import (
    AGG_SIG_UNSAFE,
    CREATE_COIN,
    condition,
    conditions_of,
    unroll,
    with_timeout,
)

SUM_KEY = b"\xaa" * 48
PAYMENT = condition(CREATE_COIN, b"\x01" * 32, b"\x64")
TIMEOUT_FORM = with_timeout(15, conditions_of(5, PAYMENT))
PUZZLE = unroll(SUM_KEY, 5, TIMEOUT_FORM)


def refused(solution: Value) -> None:
    with pytest.raises(ProgramRaised):
        evaluate(PUZZLE, solution if isinstance(solution, tuple) else b"\x80")


def test_its_own_conditions_come_back_as_they_are() -> None:
    """UNROLL-1."""
    assert evaluate(PUZZLE, TIMEOUT_FORM) == TIMEOUT_FORM


def test_without_its_time_lock_a_state_is_refused() -> None:
    refused(conditions_of(5, PAYMENT))
    refused(with_timeout(14, conditions_of(5, PAYMENT)))
    refused(NIL)


@pytest.mark.parametrize("number", [6, 8, 128, 256, 2**40])
def test_a_newer_state_of_the_other_parity_preempts(number: int) -> None:
    """UNROLL-5: the signature over the list comes in front."""
    newer = conditions_of(number, PAYMENT)
    assert evaluate(PUZZLE, newer) == (
        condition(AGG_SIG_UNSAFE, SUM_KEY, tree_hash(newer)),
        newer,
    )


@pytest.mark.parametrize("number", [7, 9, 255, 2**40 + 1])
def test_a_newer_state_of_the_same_parity_does_not(number: int) -> None:
    """UNROLL-4."""
    refused(conditions_of(number, PAYMENT))


@pytest.mark.parametrize("number", [4, 2, 0, -2, -128])
def test_an_older_state_does_not(number: int) -> None:
    """UNROLL-3."""
    refused(conditions_of(number, PAYMENT))


@pytest.mark.parametrize("published", [0, 1, 2, 127, 128, 255, 256])
def test_every_number_against_its_neighbours(published: int) -> None:
    puzzle = unroll(SUM_KEY, published, TIMEOUT_FORM)
    for number in range(max(0, published - 3), published + 4):
        newer = conditions_of(number, PAYMENT)
        if number > published and (number - published) % 2:
            assert from_list(evaluate(puzzle, newer))[1:] == from_list(newer)
        else:
            with pytest.raises(ProgramRaised):
                evaluate(puzzle, newer)


@pytest.mark.parametrize("code", [b"", b"\x00\x01", b"\x02", b"\x33", b"\x52"])
def test_a_preemption_starts_with_a_remark(code: bytes) -> None:
    """UNROLL-2."""
    refused(to_list([condition(code, int_to_atom(6)), PAYMENT]))
    refused(to_list([PAYMENT, condition(b"\x01", int_to_atom(6))]))
    refused(to_list([code]))


@pytest.mark.parametrize(
    "solution",
    [
        to_list([to_list([b"\x01"])]),
        to_list([(b"\x01", b"\x06")]),
        to_list([to_list([b"\x01", to_list([b"\x06"])])]),
    ],
)
def test_a_remark_carries_its_number(solution: Value) -> None:
    refused(solution)
