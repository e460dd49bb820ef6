"""Every Space Poker conformance vector, through the compiled programs."""

import json
from typing import Any

import pytest

from channelsim.clsp.run import CostExceeded, ProgramSlash, ProgramValid, Raised, run
from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from tests.clsp.helpers import SPACE_POKER, VECTORS, curried_args, validator, validator_args


def value_of(described: Any) -> Value:
    match described:
        case int():
            return int_to_atom(described)
        case str():
            return bytes.fromhex(described.removeprefix("0x"))
        case list():
            return to_list(value_of(item) for item in described)
        case {"program": name}:
            return validator(name).hash
    raise AssertionError(f"no value: {described!r}")


def cases(name: str) -> list[dict[str, Any]]:
    lines = (VECTORS / "spacepoker.jsonl").read_text("utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["validator"] == name]


def result_of(case: dict[str, Any]) -> Value:
    if "next" not in case:
        return to_list([NIL, NIL, NIL])
    following = case["next"]
    return to_list(
        [
            validator(following["validator"]).hash,
            value_of(following["state"]),
            int_to_atom(following["max_move_size"]),
        ]
    )


@pytest.mark.parametrize("name", SPACE_POKER)
def test_space_poker_vectors(name: str) -> None:
    program = validator(name)
    found = cases(name)
    assert found
    for case in found:
        curried = curried_args(
            amount=case["amount"],
            move=bytes.fromhex(case["move"]),
            share=int_to_atom(case["mover_share"]),
            max_move_size=int_to_atom(case["max_move_size"]),
        )
        args = validator_args(program, curried, value_of(case["state"]), value_of(case["evidence"]))
        match run(program, args):
            case ProgramValid(value):
                assert case["expect"] == "valid", case["id"]
                assert value == result_of(case), case["id"]
            case ProgramSlash():
                assert case["expect"] == "slash", case["id"]
            case Raised():
                assert case["expect"] == "raise", case["id"]
            case CostExceeded():
                pytest.fail(case["id"])


def test_every_case_belongs_to_a_validator() -> None:
    lines = (VECTORS / "spacepoker.jsonl").read_text("utf-8").splitlines()
    assert sum(len(cases(name)) for name in SPACE_POKER) == len(lines) == 1606
