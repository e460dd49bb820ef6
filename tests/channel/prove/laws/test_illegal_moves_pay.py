"""The law that some evidence makes the program judge each move."""

from __future__ import annotations

import pytest

from channelsim.channel.prove.laws.illegal_moves_pay import EveryMoveIsJudged
from channelsim.clsp.values import NIL, Value
from tests.channel.prove.laws.trials import VALUE_OF_40_BITS, record, subject, tried

FIRST_BYTE = f"(if (= (substr MOVE 0 1) 0x07) {record()} ())"
EVIDENCE = bytes.fromhex(VALUE_OF_40_BITS[2:])
PROVED_BY_EVIDENCE = f"(if (= EVIDENCE {VALUE_OF_40_BITS}) {record()} (x))"


def judged(text: str, *pieces: Value, longest: int | None = None) -> str:
    claim = EveryMoveIsJudged(subject(text, pairs=1, atom=5), (NIL, *pieces))
    return tried(claim, range(6), longest=longest, pairs=1, atom=5)[0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(FIRST_BYTE, id="an empty move"),
        pytest.param(
            f"(if (strlen MOVE) (if (= MOVE {VALUE_OF_40_BITS}) (x) {record()}) ())",
            id="one value of 40 bits",
        ),
        pytest.param(f"(if (= MOVE 0x07) {record()} 1)", id="an atom instead of ()"),
        pytest.param(f"(if (= MOVE 0x07) {record()} (c (c 1 1) 1))", id="a pair for a program"),
        pytest.param(
            f"(if EVIDENCE {FIRST_BYTE} (substr MOVE 0 6))", id="evidence is looked at before"
        ),
    ],
)
def test_a_move_that_nobody_can_slash_is_shown(text: str) -> None:
    assert judged(text) == "refuted"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"(if (strlen MOVE) {FIRST_BYTE} ())", id="the length is tested first"),
        pytest.param(
            f"(if (= MOVE 0x07) (if (l EVIDENCE) (x) {record()}) ())", id="wrong evidence raises"
        ),
    ],
)
def test_moves_that_are_judged_are_proved(text: str) -> None:
    assert judged(text) == "proved"


def test_a_move_may_need_evidence() -> None:
    text = f"(if (= MOVE 0x07) {PROVED_BY_EVIDENCE} ())"
    assert judged(text, EVIDENCE) == "proved"
    assert judged(text) == "undecided"


def test_evidence_beyond_the_bounds_may_work() -> None:
    longer = f"(if (= EVIDENCE 0x{'11' * 6}) {record()} (x))"
    assert judged(f"(if (= MOVE 0x07) {longer} ())") == "undecided"


def test_a_move_that_the_coin_does_not_take_need_not_be_judged() -> None:
    text = f"(if (= (strlen MOVE) 5) (x) (if MOVE {record()} ()))"
    assert judged(text, longest=4) == "proved"
    assert judged(text) == "refuted"
