"""The law that two moves never lead to the same record."""

from __future__ import annotations

import pytest

from channelsim.channel.prove.arguments import MOVE, coin_field, part
from channelsim.channel.prove.laws.one_encoding import OneMoveToEachRecord
from channelsim.channel.prove.reruns import OTHER
from tests.channel.prove.laws.trials import VALUE_OF_40_BITS, record, subject, tried

ANY_NUMBER = f"(if (> MOVE -1) {record('MOVE')} ())"
MINIMAL = f"(if (= MOVE (+ MOVE 0)) {ANY_NUMBER} ())"
MASKED = record("(logand 127 MOVE)")
ONE_BYTE = "(if (= (strlen MOVE) 1) {0} ())"
RARE = f"(if (= (substr MOVE 0 5) {VALUE_OF_40_BITS}) (logand 1 (substr MOVE 5)) MOVE)"
OPENS = "(if (= (sha256 {0}) STATE) {1} ())"


def claim(text: str, declared: tuple[int, int] = (0, 0)) -> OneMoveToEachRecord:
    return OneMoveToEachRecord(subject(text), declared)


@pytest.mark.parametrize(
    ("text", "state", "sizes"),
    [
        pytest.param(ANY_NUMBER, "nothing", range(4), id="a number with fill bytes"),
        # A longer number comes from the shorter move.
        pytest.param(
            f"(if (> MOVE -1) (if (= (strlen MOVE) 2) {record('MOVE')}"
            f" (if (= (substr MOVE 0 2) 0x0101) {record('(substr MOVE 2)')} ())) ())",
            "nothing",
            [3],
            id="a fill byte of the shorter move",
        ),
        pytest.param(ONE_BYTE.format(MASKED), "nothing", [1], id="a bit that is masked"),
        pytest.param(
            f"(if (> (strlen MOVE) 1) {record('(substr MOVE 0 2)')} ())",
            "nothing",
            range(4),
            id="bytes at the end",
        ),
        pytest.param(
            f"(if (= (strlen MOVE) 6) {record(RARE)} ())", "nothing", [6], id="one value of 40 bits"
        ),
        pytest.param(
            OPENS.format("(substr MOVE 0 2)", f"(if (> (substr MOVE 2) 5) {record()} ())"),
            "hash",
            [3],
            id="a byte behind a secret",
        ),
    ],
)
def test_two_moves_with_one_record_are_shown(text: str, state: str, sizes: range) -> None:
    verdict, shown = tried(claim(text), sizes, state)
    assert verdict == "refuted"
    assert shown is not None
    assert part(shown, coin_field(MOVE)) != part(shown, OTHER)


@pytest.mark.parametrize(
    ("text", "state", "sizes"),
    [
        pytest.param(MINIMAL, "nothing", range(4), id="a number in the fewest bytes"),
        pytest.param(f"(if (strlen MOVE) {record('MOVE')} ())", "nothing", range(4), id="a text"),
        pytest.param(
            ONE_BYTE.format(f"(if (> MOVE -1) {MASKED} ())"),
            "nothing",
            range(2),
            id="a bit that is tested and masked",
        ),
        # Two secrets behind one hash would be a collision.
        pytest.param(
            OPENS.format("MOVE", record()), "hash", range(3), id="a secret", marks=pytest.mark.long
        ),
        pytest.param(
            f"(if (= MOVE 0x01) {record()} (if (= MOVE 0x02) (c () ()) ()))",
            "nothing",
            range(3),
            id="a move that leads on, and one that ends",
        ),
    ],
)
def test_right_programs_are_proved(text: str, state: str, sizes: range) -> None:
    assert tried(claim(text), sizes, state) == ("proved", None)


def test_bytes_that_no_rule_reads_are_undecided_unless_they_are_declared() -> None:
    text = f"(if (= (strlen MOVE) 2) {record('(substr MOVE 0 1)')} ())"
    assert tried(claim(text), [2, 1]) == ("undecided", None)
    assert tried(claim(text, (1, 2)), [2, 1]) == ("proved", None)
    assert "bytes 1 to 1 of a move are declared to say nothing" in claim(text, (1, 2)).assumes


def test_declared_bytes_may_not_be_read() -> None:
    rare = "(if (= (substr MOVE 1) 0x07) 1 (substr MOVE 0 1))"
    text = f"(if (= (strlen MOVE) 2) {record(rare)} ())"
    assert tried(claim(text, (1, 2)), [2])[0] == "refuted"
