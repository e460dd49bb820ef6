"""The laws about shares and commitments."""

from __future__ import annotations

import pytest

from channelsim.channel.prove.arguments import part
from channelsim.channel.prove.laws.commitments_are_bound import OnlyTheCommittedBytes
from channelsim.channel.prove.laws.shares import DECLARED, ShareWithinTheAmount
from channelsim.channel.prove.laws.shares_are_bound import NoSmallerShare
from channelsim.clsp.programs import Program
from channelsim.clsp.values import atom_to_int
from channelsim.games.referee import referee
from tests.channel.prove.laws.trials import VALUE_OF_40_BITS, honest, record, subject, tried
from tests.channel.prove.programs import assemble

LETS_ALL_THROUGH = assemble("(c (c 82 ()) ())")
NOT_ABOVE = f"(if (> SHARE AMOUNT) () {record()})"


def within(text: str, coin: Program = LETS_ALL_THROUGH) -> tuple[str, int | None]:
    claim = ShareWithinTheAmount(subject(text, coin))
    verdict, shown = tried(claim, [0, 1])
    return verdict, None if shown is None else atom_to_int(part(shown, DECLARED))


def test_the_referee_takes_no_share_outside_of_the_amount() -> None:
    assert within(record(), referee()) == ("proved", None)


def test_with_another_referee_the_program_has_to_look() -> None:
    assert within(record())[0] == "refuted"
    assert within(f"(if (> 0 SHARE) () {NOT_ABOVE})") == ("proved", None)
    verdict, share = within(NOT_ABOVE)
    assert (verdict, (share or 0) < 0) == ("refuted", True)
    rare = f"(if (= SHARE {VALUE_OF_40_BITS}) {record()} (if (> 0 SHARE) () {NOT_ABOVE}))"
    assert within(rare) == ("refuted", 0x0123456789)


HALF = {"move": "0102", "amount": 1 << 50, "share": 1 << 49}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("(if (= SHARE (/ AMOUNT 2)) {0} ())", "proved"),
        ("(if (> (/ AMOUNT 2) SHARE) () {0})", "proved"),
        ("(if (> (/ AMOUNT 2) SHARE) (if (= EVIDENCE 0x07) () (x)) {0})", "proved"),
        ("(if (> (/ AMOUNT 4) SHARE) () {0})", "refuted"),
        (
            f"(if (= SHARE {VALUE_OF_40_BITS}) {{0}} (if (> (/ AMOUNT 2) SHARE) () {{0}}))",
            "refuted",
        ),
        (f"(if (= SHARE {VALUE_OF_40_BITS}) (x) (if (> (/ AMOUNT 2) SHARE) () {{0}}))", "proved"),
    ],
)
def test_a_smaller_share_of_an_honest_move(text: str, verdict: str) -> None:
    move = honest(HALF, b"\x07")
    claim = NoSmallerShare(subject(text.format(record())), (move,))
    assert tried(claim, [2, 1])[0] == verdict


SHOWN = {"move": "0011223344556677", "commit": True, "move_more": "01"}
BOUND = "(= (sha256 (substr MOVE 0 8)) STATE)"


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        (BOUND, "proved"),
        (f"(all {BOUND} (= (substr MOVE 8) 0x01))", "proved"),
        (f"(any {BOUND} (= (substr MOVE 0 5) {VALUE_OF_40_BITS}))", "refuted"),
        ("(strlen MOVE)", "refuted"),
        # Two of 32 bytes: a secret with this hash is drawn. Eight: it could be found, in years.
        ("(= (substr (sha256 (substr MOVE 0 8)) 0 2) (substr STATE 0 2))", "refuted"),
        ("(= (substr (sha256 (substr MOVE 0 8)) 0 8) (substr STATE 0 8))", "undecided"),
    ],
)
def test_other_bytes_than_the_committed_ones(test: str, verdict: str) -> None:
    move = honest(SHOWN, opened=(0, 8))
    text = f"(if {test} {record()} ())"
    claim = OnlyTheCommittedBytes(subject(text), (move,))
    assert tried(claim, [9, 8], "hash")[0] == verdict
