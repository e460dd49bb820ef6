"""Space Poker's betting rules at their edges, on states that honest play reaches."""

from dataclasses import replace
from functools import cache
from random import Random

import pytest

from channelsim.clsp.run import ProgramSlash, ProgramValid
from channelsim.clsp.values import NIL, atom_to_int, from_list, int_to_atom, to_list
from tests.clsp.helpers import Step, honest_play


@cache
def honest_steps(name: str) -> list[Step]:
    return [s for seed in range(30) for s in honest_play(Random(seed)) if s.validator == name]


def number_at(step: Step, place: int) -> int:
    field = from_list(step.state)[place]
    assert isinstance(field, bytes)
    return atom_to_int(field)


def opens(step: Step) -> bool:
    """Not a pong: an opening may be 32 bytes too, but then any amount of 0 is a check."""
    outcome = step.judge()
    assert isinstance(outcome, ProgramValid)
    return from_list(outcome.value)[0] == from_list(step.state)[5]


def openings() -> list[Step]:
    return [step for step in honest_steps("begin_round") if opens(step)]


def pongs() -> list[Step]:
    return [step for step in honest_steps("begin_round") if not opens(step)]


def slashed(step: Step, move: bytes) -> bool:
    outcome = step.judge(move=move)
    assert isinstance(outcome, ProgramValid | ProgramSlash)
    return isinstance(outcome, ProgramSlash)


def in_more_bytes(number: int) -> bytes:
    return (b"\xff" if number < 0 else b"\x00") + int_to_atom(number)


def test_an_opening_is_in_the_fewest_bytes() -> None:
    """SP-BEGIN-5: a check is no bytes, not a zero byte."""
    for step in openings():
        image = step.move[:32]
        room = step.amount // 2 - number_at(step, 1)
        for amount in {0, 1, room // 2, room}:
            assert slashed(step, image + in_more_bytes(amount))
            assert slashed(step, image + int_to_atom(amount)) == (amount > room)


def test_an_opening_is_within_the_stack() -> None:
    """SP-BEGIN-6, SP-BEGIN-7."""
    for step in openings():
        image = step.move[:32]
        room = step.amount // 2 - number_at(step, 1)
        assert not slashed(step, image + int_to_atom(room))
        for amount in (room + 1, room + 128, 1 << 70, -1, -128, -(1 << 70)):
            assert slashed(step, image + int_to_atom(amount))


def test_a_mover_that_lost_the_toss_only_pongs() -> None:
    """SP-BEGIN-4: not even a check in more bytes."""
    assert pongs()
    for step in pongs():
        assert number_at(step, 4) == 4
        assert not slashed(step, step.move)
        for more in (b"\x00", b"\x01", b"\xff", b"\x00" * 10):
            assert slashed(step, step.move + more)


def test_the_toss_gives_the_first_street_to_exactly_one() -> None:
    """After a pong the other player opens, whatever it bets."""
    for play in (list(honest_play(Random(seed))) for seed in range(30)):
        first = [step for step in play if step.validator == "begin_round"][:2]
        assert opens(first[0]) or opens(first[1])


def test_a_raise_is_in_the_fewest_bytes_above_zero_and_within_the_stack() -> None:
    """SP-MID-2, SP-MID-3, SP-MID-4."""
    for step in honest_steps("mid_round"):
        room = step.amount // 2 - number_at(step, 1) - number_at(step, 2)
        free = bytes(32)
        for amount in {1, room // 2, room} - {0}:
            assert slashed(step, free + int_to_atom(amount)) == (amount > room)
            assert slashed(step, free + in_more_bytes(amount))
        for amount in (room + 1, room + 200, -1, -200):
            assert slashed(step, free + int_to_atom(amount))
        assert slashed(step, free + b"\x00")


def test_a_call_reveals_the_value_below() -> None:
    """SP-MID-5, SP-MID-6."""
    calls = [step for step in honest_steps("mid_round") if len(step.move) <= 32]
    assert {len(step.move) for step in calls} == {16, 32}
    for step in calls:
        for move in (b"", step.move[:-1], bytes(len(step.move)), bytes(16), bytes(32)):
            assert slashed(step, move)


@pytest.mark.parametrize("name", ["commitA", "commitB", "begin_round", "mid_round"])
def test_the_share_is_exact(name: str) -> None:
    """SP-COMMITA-2, SP-COMMITB-2, SP-BEGIN-2, SP-MID-1."""
    for step in honest_steps(name)[:60]:
        for share in (step.share + 1, step.share - 1, 0, step.amount, -1):
            outcome = replace(step, share=share).judge()
            assert isinstance(outcome, ProgramSlash) == (share != step.share)


def test_leaving_more_than_due_is_legal() -> None:
    """SP-END-5: the generous share of the honest reveal, and anything above it."""
    for step in honest_steps("end"):
        for share in (step.share, step.share + 1, step.amount):
            outcome = replace(step, share=share).judge(evidence=b"\x1f")
            assert isinstance(outcome, ProgramValid)
            assert outcome.value == to_list([NIL, NIL, NIL])
        half_pot = number_at(step, 0)
        least = step.amount // 2 - half_pot
        assert isinstance(replace(step, share=least - 1).judge(evidence=b"\x1f"), ProgramSlash)
