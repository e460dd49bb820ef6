"""The referee's slash rules, each met and each broken, by running the puzzle."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramRaised, evaluate
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from tests.clsp.coins import (
    Game,
    infohash,
    payment,
)
from tests.clsp.test_values import values

GAME = Game()
MOVERS_ADDRESS = b"\x01" * 32
INFOHASH_C = b"\xc0" * 32


def refused(spend: Callable[..., object], *solution: Value) -> None:
    with pytest.raises(ProgramRaised):
        spend(*solution)


STATE: Value = to_list([b"state", b"\x05"])
NEXT_STATE: Value = to_list([b"next", b"state"])
NEXT = Program(serialize(to_list([b"\x08", b"some", b"program"])))
EXTRA: list[Value] = [to_list([b"\x31", b"\xdd" * 48, b"gap"]), to_list([b"\x01", b"x"])]


def returns(value: Value) -> Program:
    """A validator that returns this, whatever the move is."""
    return Program(serialize((b"\x01", value)))


def slashed_by(program: Program, committed: bytes, size: bytes) -> Game:
    """A game whose last move this validator judges, and what that move committed to."""
    return replace(
        GAME, infohash_a=infohash(program, STATE), infohash_b=committed, max_move_size=size
    )


def slash(result: Value, committed: bytes = INFOHASH_C, size: bytes = b"\x11") -> list[list[Value]]:
    program = returns(result)
    game = slashed_by(program, committed, size)
    return game.spend(STATE, program.value, NIL, MOVERS_ADDRESS)


PAYOUT = payment(GAME.mover, MOVERS_ADDRESS, 200)
COMMITTED = infohash(NEXT, NEXT_STATE)
LEGAL: list[Value] = [NEXT.hash, NEXT_STATE, b"\x11"]


def test_an_illegal_move_pays_everything_at_once() -> None:
    """REF-SLASH-3, REF-SLASH-8: no time lock."""
    assert slash(NIL) == PAYOUT
    assert slash(NIL, committed=NIL, size=NIL) == PAYOUT


def test_a_legal_move_with_the_right_commitment_cannot_be_slashed() -> None:
    """REF-SLASH-7."""
    refused(slash, to_list(LEGAL), COMMITTED, b"\x11")


@pytest.mark.parametrize(
    ("rule", "committed", "size"),
    [
        ("REF-SLASH-4", INFOHASH_C, b"\x11"),
        ("REF-SLASH-4", NIL, b"\x11"),
        ("REF-SLASH-4", NIL, NIL),
        ("REF-SLASH-5", COMMITTED, b"\x12"),
        ("REF-SLASH-5", COMMITTED, NIL),
        ("REF-SLASH-5", COMMITTED, b"\x00\x11"),
    ],
)
@pytest.mark.parametrize("extra", [[], EXTRA], ids=["nothing extra", "extra"])
def test_a_wrong_commitment_pays_without_the_extra_conditions(
    rule: str, committed: bytes, size: bytes, extra: list[Value]
) -> None:
    assert slash(to_list([*LEGAL, *extra]), committed, size) == PAYOUT, rule


def test_extra_conditions_go_in_front() -> None:
    """REF-SLASH-6."""
    assert slash(to_list([*LEGAL, *EXTRA]), COMMITTED, b"\x11") == [
        [b"\x31", b"\xdd" * 48, b"gap"],
        [b"\x01", b"x"],
        *PAYOUT,
    ]


ENDS: list[Value] = [
    to_list([NIL, NIL, NIL]),
    to_list([NIL]),
    to_list([NIL, NIL]),
    to_list([NIL, b"ignored"]),
]


@pytest.mark.parametrize("result", ENDS)
def test_the_end_of_a_game_is_a_commitment_to_nothing(result: Value) -> None:
    """Short results count as () where they end."""
    refused(slash, result, NIL, NIL)
    assert slash(result, COMMITTED, NIL) == PAYOUT
    assert slash(result, NIL, b"\x11") == PAYOUT
    assert slash(result, COMMITTED, b"\x11") == PAYOUT


def test_the_end_with_extra_conditions() -> None:
    result = to_list([NIL, NIL, NIL, *EXTRA])
    assert slash(result, NIL, NIL)[2:] == PAYOUT
    assert slash(result, COMMITTED, NIL) == PAYOUT


@pytest.mark.parametrize(
    ("result", "committed"),
    [
        (to_list([NEXT.hash]), infohash(NEXT, NIL)),
        (to_list([NEXT.hash, NEXT_STATE]), COMMITTED),
    ],
)
def test_short_results_that_go_on(result: Value, committed: bytes) -> None:
    refused(slash, result, committed, NIL)
    assert slash(result, committed, b"\x11") == PAYOUT
    assert slash(result, INFOHASH_C, NIL) == PAYOUT


@pytest.mark.parametrize(
    "result",
    [
        b"\x01",
        b"\x00",
        to_list([(NIL, NIL)]),
        (NEXT.hash, (NEXT_STATE, (b"\x11", b"\x01"))),
        to_list([NEXT.hash, NEXT_STATE, (b"\x11", NIL)]),
        (NEXT.hash, (NEXT_STATE, (b"\x11", (EXTRA[0], b"\x01")))),
    ],
)
def test_malformed_results_do_not_slash(result: Value) -> None:
    refused(slash, result, COMMITTED, b"\x11")


def test_a_validator_that_raises_does_not_slash() -> None:
    program = Program(bytes.fromhex("ff0880"))
    game = slashed_by(program, INFOHASH_C, b"\x11")
    refused(game.spend, STATE, program.value, NIL, MOVERS_ADDRESS)


def test_only_the_validator_and_the_state_of_the_move_count() -> None:
    """REF-SLASH-2; on the first coin nothing does, as no hash is the atom 0x78."""
    program = returns(NIL)
    game = slashed_by(program, INFOHASH_C, b"\x11")
    assert game.spend(STATE, program.value, NIL, MOVERS_ADDRESS) == PAYOUT
    refused(game.spend, NIL, program.value, NIL, MOVERS_ADDRESS)
    other = Program(serialize(to_list([b"\x02", (b"\x01", NIL)])))
    refused(game.spend, STATE, other.value, NIL, MOVERS_ADDRESS)
    refused(GAME.spend, STATE, program.value, NIL, MOVERS_ADDRESS)


@pytest.mark.parametrize(
    "solution",
    [
        [STATE, returns(NIL).value, NIL],
        [STATE, returns(NIL).value, NIL, MOVERS_ADDRESS, NIL],
        [STATE, returns(NIL).value, NIL, NIL],
    ],
)
def test_a_slash_has_exactly_four_items_and_an_address(solution: list[Value]) -> None:
    """REF-SLASH-1."""
    refused(slashed_by(returns(NIL), INFOHASH_C, b"\x11").spend, *solution)


def test_a_slash_ends_in_a_proper_list() -> None:
    game = slashed_by(returns(NIL), INFOHASH_C, b"\x11")
    solution: Value = (STATE, (returns(NIL).value, (NIL, (MOVERS_ADDRESS, b"\x01"))))
    refused(game.spend_raw, solution)


@given(state=values, evidence=values)
def test_the_validator_is_called_as_the_contract_says(state: Value, evidence: Value) -> None:
    """A validator that gives its environment back as an extra condition."""
    program = Program(serialize(_echo()))
    game = replace(GAME, infohash_a=infohash(program, state), infohash_b=NIL, max_move_size=NIL)
    solution = to_list([state, program.value, evidence, MOVERS_ADDRESS])
    conditions = evaluate(game.puzzle(), solution)
    assert isinstance(conditions, tuple)
    assert conditions[0] == to_list(
        [program.hash, game.fields(), state, program.value, evidence, MOVERS_ADDRESS]
    )


def _echo() -> Value:
    """(c () (c () (c () (c 1 ())))): the end of the game, and the environment as a condition."""
    value: Value = to_list([b"\x04", b"\x01", NIL])
    for _ in range(3):
        value = to_list([b"\x04", NIL, value])
    return value


def test_the_amount_pays_in_the_form_the_coin_has_it() -> None:
    game = replace(slashed_by(returns(NIL), INFOHASH_C, b"\x11"), amount=128, share=0)
    assert game.spend(STATE, returns(NIL).value, NIL, MOVERS_ADDRESS)[0][2] == int_to_atom(128)
