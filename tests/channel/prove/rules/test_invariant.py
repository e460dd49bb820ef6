"""What states say of themselves by `holds`: it is kept by moves, and all claims rest on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.prove import replaying
from channelsim.channel.prove.counterexample import Counterexample
from channelsim.channel.prove.proof import Question, prove
from channelsim.channel.prove.replaying import still_breaks
from channelsim.channel.prove.rules import invariant
from channelsim.channel.prove.rules.claim import claims_of_rules
from channelsim.channel.prove.rules.invariant import StaysTrue, check_start
from channelsim.channel.prove.shapes import known_shapes
from channelsim.games.spacepoker.states import CommitB
from tests.channel.prove.rules.toys import END, Toy, examined, question_of

STATE = '''
put: Annotated[int, Integer(0, 1 << 62)]
def holds(self, amount):
    """Nobody has put in more than half."""
    return 2 * self.put <= amount
'''
RAISE = """
if len(move) != 1 or move[0] >= 128 or 2 * (state.put + move[0]) > amount:
    return Slash("R")
return Valid(Next("move", State(state.put + move[0]), 1))
"""

BEYOND = f"(if (> (* 2 STATE) AMOUNT) (x) (if MOVE {END} ()))"
"""A program that raises only where more is put in than there is."""


def holding(question: Question) -> Question:
    return replace(
        question,
        claim=StaysTrue(question.target, "move", question.longest, known_shapes(question.target)),
    )


def test_what_moves_keep_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = holding(question_of(Toy(RAISE, END, STATE), tmp_path, monkeypatch))
    for size in (0, 1, 2):
        result = examined(asked, size)
        assert not result.counterexample
        assert not result.undecided
        assert result.confirmed == result.paths > 0


@pytest.mark.parametrize(
    ("old", "new"), [("> amount", "> amount + 1"), (" or 2 * (state.put + move[0]) > amount", "")]
)
def test_what_a_move_breaks_is_shown(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert old in RAISE
    toy = Toy(RAISE.replace(old, new), END, STATE)
    asked = holding(question_of(toy, tmp_path, monkeypatch))
    assert any(examined(asked, size).counterexample for size in (1, 2))


def test_claims_rest_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = 'return Valid(None) if move else Slash("R")'
    asked = question_of(Toy(rules, BEYOND, STATE), tmp_path, monkeypatch)
    result = examined(asked, 1)
    assert not result.counterexample
    assert not result.undecided
    weaker = STATE.replace("2 * self.put", "self.put")
    asked = question_of(Toy(rules, BEYOND, weaker), tmp_path, monkeypatch)
    assert examined(asked, 1).counterexample


def test_it_has_to_be_true_in_play(monkeypatch: pytest.MonkeyPatch) -> None:
    target = load("spacepoker")
    assert [claim.name for claim in claims_of_rules(target, "commitB")] == ["rules"]
    monkeypatch.setattr(
        CommitB, "holds", lambda self, amount: self.bet_unit < amount, raising=False
    )
    assert invariant.invariants(target) == ("commitB",)
    check_start(target)
    assert [claim.name for claim in claims_of_rules(target, "commitB")] == ["rules", "holds"]
    monkeypatch.setattr(CommitB, "holds", lambda self, amount: self.bet_unit > amount)
    with pytest.raises(UsageError, match=r"CommitB.holds is false in a state that was played"):
        check_start(target)


def test_a_state_that_does_not_hold_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = RAISE.replace("> amount", "> amount + 1")
    asked = holding(question_of(Toy(wrong, END, STATE), tmp_path, monkeypatch))
    finding = Counterexample.of(prove(asked, seconds=60)).finding()
    assert finding.text == "not holds: a legal move leads to a state of which it is false"
    # The toy cannot be played, as making questions about it needs.
    monkeypatch.setattr(replaying, "questions", lambda *given: [] if given[-1] else [asked])
    assert still_breaks(asked.target, finding) == [finding.text]
    right = holding(question_of(Toy(RAISE, END, STATE), tmp_path, monkeypatch))
    monkeypatch.setattr(replaying, "questions", lambda *given: [right])
    assert still_breaks(right.target, finding) == []
