"""Payouts by points, as authors write them: parts of the amount by numbers of state and move."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.channel.prove.rules.toys import END, Toy, examined, question_of
from tests.sampling import one_row_in

HEAD = """
points = atom_to_int(move)
if not is_minimal(move) or not 1 <= points <= 100:
    return Slash("R")
if share < {}:
    return Slash("R")
return Valid(None)
"""

PROGRAM = (
    f"(if (= (strlen MOVE) 1) (if (> MOVE 0) (if (> 101 MOVE) (if (> {{}} SHARE) () {END}) ()) ())"
    " ())"
)

SAME = [
    # The rules know a number from 1 to 100, the program a byte with a sign.
    ("amount * state.number // (state.number + points)", "(/ (* AMOUNT STATE) (+ STATE MOVE))"),
    ("amount * points // (state.number + points)", "(/ (* MOVE AMOUNT) (+ MOVE STATE))"),
    ("-(-amount * points // 100)", "(- 0 (/ (* (- 0 AMOUNT) MOVE) 100))"),
    ("points * amount * state.number // 100000", "(/ (* AMOUNT STATE MOVE) 100000)"),
    ("amount // points * state.number // 1000", "(/ (* (/ AMOUNT MOVE) STATE) 1000)"),
    ("sum(divmod(amount, points))", "(+ (/ AMOUNT MOVE) (r (divmod AMOUNT MOVE)))"),
    # One side chooses between quotients, the other between their operands.
    (
        "amount // (points if points > 50 else points + state.number)",
        "(if (> MOVE 50) (/ AMOUNT MOVE) (/ AMOUNT (+ MOVE STATE)))",
    ),
]

OTHER = [
    ("amount * state.number // (state.number + points)", "(/ (* AMOUNT STATE) (+ STATE MOVE 1))"),
    ("points * amount * state.number // 100000", "(/ (* AMOUNT STATE STATE) 100000)"),
    ("amount // points * state.number", "(/ (* AMOUNT STATE) MOVE)"),
    ("points * amount * state.number // 100000", "(* AMOUNT STATE (/ MOVE 100000))"),
    (
        "state.number * (amount - (0 if points > 50 else points))",
        "(if (> MOVE 51) (* STATE AMOUNT) (* STATE (- AMOUNT MOVE)))",
    ),
    (
        "amount // (points if points > 50 else points + state.number)",
        "(if (> MOVE 50) (/ AMOUNT MOVE) (/ AMOUNT STATE))",
    ),
    ("amount - amount % points", "(- AMOUNT (r (divmod AMOUNT (+ MOVE 1))))"),
]


def toy(due: str, by_program: str) -> Toy:
    return Toy(HEAD.format(due), PROGRAM.format(by_program))


@pytest.mark.parametrize(("due", "by_program"), one_row_in(3, SAME))
def test_the_same_payout_is_proved(
    due: str, by_program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(toy(due, by_program), tmp_path, monkeypatch), 1)
    assert (result.counterexample, result.undecided) == ("", ())
    assert result.paths >= 4
    assert result.confirmed


@pytest.mark.parametrize(("due", "by_program"), one_row_in(3, OTHER))
def test_another_payout_is_refuted(
    due: str, by_program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined(question_of(toy(due, by_program), tmp_path, monkeypatch), 1).counterexample
