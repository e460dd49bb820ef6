"""Secrets are drawn until their hashes have the few digits that a path depends on."""

from __future__ import annotations

import pytest

from channelsim.channel.prove.concrete_runs import differ, outcomes
from tests.channel.prove.programs import assemble
from tests.channel.prove.test_comparison import compared

RIGHT = "(if (= (strlen MOVE) 16) {} ())"
VALID = "(c PROGRAM_HASH ())"

COMMITTED = f"(if (= (sha256 MOVE) STATE) {{}} {VALID})"
"""The test is made where the state is the hash of the move."""

FOUND = {
    "a byte of a hash": "(= (substr (sha256 MOVE) 3 4) 0x07)",
    "two bytes of a hash": "(= (substr (sha256 MOVE) 30 32) 0x1234)",
    "equal bytes of a hash": "(= (substr (sha256 MOVE) 0 1) (substr (sha256 MOVE) 9 10))",
    "a remainder of a hash": "(= (r (divmod (sha256 MOVE) 97)) 55)",
    "a hash of more than the move": "(= (substr (sha256 0x0102 MOVE) 0 1) 0x99)",
    "a hash of a hash": "(= (substr (sha256 (sha256 MOVE)) 0 1) 0x77)",
    "a hash of two hashes": "(= (substr (sha256 (sha256 1 MOVE) (sha256 2 MOVE)) 0 1) 0x55)",
    "a hash of part of the move": "(= (substr (sha256 (substr MOVE 4 16)) 0 1) 0x33)",
}

SLOW = {"a remainder of a hash"}

FOUND_BEHIND_A_COMMITMENT = {
    "a byte of the commitment": "(= (substr STATE 0 1) 0x44)",
    "a hash with the commitment": "(= (substr (sha256 MOVE STATE) 0 1) (substr STATE 1 2))",
}


def differing(test: str, around: str = "{}") -> tuple[str, str]:
    """Two validators, the second of which refuses moves for which a test is true."""
    wrong = around.format(f"(if {test} () {VALID})")
    return RIGHT.format(VALID), RIGHT.format(wrong)


@pytest.mark.parametrize(
    ("test", "around"),
    [
        *(
            pytest.param(test, "{}", id=name, marks=[pytest.mark.long] if name in SLOW else [])
            for name, test in FOUND.items()
        ),
        *(
            pytest.param(test, COMMITTED, id=name)
            for name, test in FOUND_BEHIND_A_COMMITMENT.items()
        ),
    ],
)
def test_a_difference_in_few_digits_of_a_hash_is_shown(test: str, around: str) -> None:
    left, right = map(assemble, differing(test, around))
    (report,) = compared(left, right, [16], "hash")
    assert report.counterexample is not None
    assert differ(*outcomes([left, right], report.counterexample))


@pytest.mark.parametrize(
    "test",
    [
        f"(= (sha256 MOVE) 0x{32 * '07'})",
        f"(= (substr (sha256 MOVE) 0 8) 0x{8 * '07'})",
        "(= (sha256 1 MOVE) STATE)",
    ],
)
def test_more_digits_than_can_be_found_are_undecided_soon(test: str) -> None:
    left, right = map(assemble, differing(test, COMMITTED))
    (report,) = compared(left, right, [16], "hash")
    assert not report.broken
    assert [gap.reason for gap in report.gaps] == ["a hash would have to be inverted"]
