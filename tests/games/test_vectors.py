"""Conformance vectors: the files that come with the project, and bad ones."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from channelsim.games import vectors
from channelsim.games.vectors import BadCase, Case
from tests.games.table import GAME
from tests.paths import DATA

FOLDER = DATA / "vectors"
SPACE_POKER = FOLDER / "spacepoker.jsonl"
CASES = {"spacepoker": 1606, "calpoker": 1221}


def cases() -> list[Case]:
    with SPACE_POKER.open("rb") as lines:
        return list(vectors.read(lines))


@pytest.mark.parametrize(("game", "count"), CASES.items())
def test_every_case_passes_in_python_and_in_clvm(game: str, count: int) -> None:
    with (FOLDER / f"{game}.jsonl").open("rb") as lines:
        every = list(vectors.read(lines))
    assert len(every) == count
    assert {case.id: found for case in every if (found := vectors.check(case))} == {}


def test_a_game_can_stand_in() -> None:
    case = msgspec.structs.replace(cases()[0], game="another")
    assert vectors.check(case)[0].startswith("no game is called 'another'; installed: ")
    assert vectors.check(case, GAME) == []


def one(expect: str, validator: str, *, following: bool | None = None) -> Case:
    return next(
        case
        for case in cases()
        if (case.expect, case.validator) == (expect, validator)
        and following in (None, case.next is not None)
    )


def test_a_wrong_expectation_differs_from_rules_and_program() -> None:
    legal = one("valid", "end")
    wrong = msgspec.structs.replace(legal, expect="raise")
    assert vectors.check(wrong) == [
        "python: expected raise, got valid",
        "program: expected raise, got valid",
    ]
    illegal = msgspec.structs.replace(one("slash", "commitA"), expect="valid")
    assert vectors.check(illegal)[0] == "python: expected valid, got slash"


def test_every_part_of_the_next_record_counts() -> None:
    case = one("valid", "mid_round", following=True)
    assert case.next is not None
    for change, name in (
        ({"validator": "end"}, "next validator"),
        ({"state": [1, *case.next.state[1:]]}, "next state"),
        ({"max_move_size": 41}, "next max_move_size"),
    ):
        changed = msgspec.structs.replace(case, next=msgspec.structs.replace(case.next, **change))
        assert vectors.check(changed) == [f"python: {name} differs", f"program: {name} differs"]
    over = msgspec.structs.replace(case, next=None)
    assert len(vectors.check(over)) == 6


def test_a_terminal_move_must_end_the_game() -> None:
    case = one("valid", "end")
    going_on = vectors.NextRecord("end", 0, 0)
    assert "python: next validator differs" in vectors.check(
        msgspec.structs.replace(case, next=going_on)
    )


def test_unknown_validators_are_reported() -> None:
    case = one("valid", "end")
    for changed in (
        msgspec.structs.replace(case, validator="middle"),
        msgspec.structs.replace(case, state={"program": "middle"}),
    ):
        assert vectors.check(changed) == ["spacepoker has no validator 'middle'"]


def test_a_malformed_state_is_reported() -> None:
    case = msgspec.structs.replace(one("slash", "end"), state=[1, 2])
    assert "python: expected slash, got bad state" in vectors.check(case)[0]


GOOD: dict[str, Any] = {
    "id": "a",
    "tag": "b",
    "game": "spacepoker",
    "validator": "commitA",
    "amount": 20,
    "mover_share": 10,
    "max_move_size": 32,
    "move": "00" * 32,
    "state": 1,
    "evidence": "0x",
    "expect": "valid",
    "next": {"validator": "commitB", "state": [1, "0x" + "00" * 32], "max_move_size": 32},
}


def test_a_good_line() -> None:
    (case,) = vectors.read([json.dumps(GOOD)])
    assert vectors.check(case) == []


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"amount": "20"}, "amount"),
        ({"amount": 1.5}, "amount"),
        ({"amount": True}, "amount"),
        ({"move": "0x00"}, "move"),
        ({"move": "0"}, "move"),
        ({"move": "0 0 "}, "move"),
        ({"state": "00"}, "state"),
        ({"state": [1, True]}, "state"),
        ({"state": [1, None]}, "state"),
        ({"state": 1.0}, "state"),
        ({"evidence": "0x0"}, "evidence"),
        ({"evidence": {"program": 1}}, "evidence"),
        ({"evidence": {"program": "end", "more": 1}}, "evidence"),
        ({"expect": "maybe"}, "expect"),
        ({"expect": "slash"}, "next"),
        ({"next": {**GOOD["next"], "state": {}}}, "next.state"),
        ({"next": {**GOOD["next"], "more": 1}}, "more"),
        ({"next": {"validator": "commitB"}}, "state"),
        ({"more": 1}, "more"),
    ],
)
def test_a_bad_line_names_its_number_and_key(change: dict[str, Any], key: str) -> None:
    lines = [json.dumps(GOOD), json.dumps({**GOOD, **change})]
    reader = vectors.read(lines)
    next(reader)
    with pytest.raises(BadCase, match=rf"^line 2: .*{key}"):
        next(reader)


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "[]",
        "{",
        b"\xff\xfe",
        "[" * 100_000,
        '{"id": "a"',
        '{"state": ' + "[" * 9999,
    ],
)
def test_a_line_that_is_no_case_is_refused(line: str | bytes) -> None:
    with pytest.raises(BadCase, match=r"^line 1[,:] "):
        list(vectors.read([line]))


def test_values_nested_too_deep_are_refused() -> None:
    line = json.dumps(GOOD).replace('"state": 1', '"state": ' + "[" * 990 + "]" * 990, 1)
    try:
        list(vectors.read([line]))
    except BadCase as error:
        assert str(error).startswith("line 1: ")  # noqa: PT017
