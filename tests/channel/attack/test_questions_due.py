"""The questions to a player: in their order, and about what is open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from channelsim.channel.attack.questions_due import QuestionsDue
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    Cancelled,
    Effect,
    Event,
    Proposed,
    Tell,
    YourTurn,
)
from channelsim.games.contract import Action

ACT = Act(4, Action("check"))


def proposal(number: int) -> Proposed:
    group: Any = SimpleNamespace(id=number)
    return Proposed(group)


def told(*news: Any) -> list[Effect]:
    return [Tell(one) for one in news]


def after(*news: Any, event: Event = ACT) -> QuestionsDue:
    """The questions of a process after this news, at the time 10."""
    questions = QuestionsDue()
    questions.follow(None, [], 0.0)
    questions.follow(event, told(*news), 10.0)
    return questions


def test_a_turn_waits_for_one_proposal_at_most() -> None:
    right, wrong = (after(proposal(1), proposal(3), YourTurn(4)) for _ in range(2))
    for questions in (right, wrong):
        assert [*questions.asked(proposal(1), 10.1)] == []
        questions.follow(AcceptGames(1), [], 10.2)
    assert [*right.asked(YourTurn(4), 10.3)] == []
    assert [*wrong.asked(proposal(3), 10.3)] == [
        "is asked about two proposals in a row, and game 4 waits"
    ]


def test_a_turn_that_comes_late_may_wait_for_another_proposal() -> None:
    questions = after(proposal(1), proposal(3))
    assert [*questions.asked(proposal(1), 10.1)] == []
    questions.follow(AcceptGames(1), told(YourTurn(4)), 10.2)
    assert [*questions.asked(proposal(3), 10.3)] == []


def test_the_oldest_question_of_a_kind_comes_first() -> None:
    questions = after(YourTurn(4), YourTurn(6))
    assert [*questions.asked(YourTurn(6), 10.1)] == [
        "is asked about game 6, and game 4 waits for longer"
    ]
    # A question that is repeated while a player thinks is the same one.
    questions = after(YourTurn(4))
    assert [*questions.asked(YourTurn(4), 10.1)] == []
    questions.follow(AcceptGames(9), told(YourTurn(4), YourTurn(6)), 10.2)
    questions.follow(ACT, [], 10.3)
    assert [*questions.asked(YourTurn(6), 10.4)] == []


def test_nothing_is_asked_about_proposals_that_are_over() -> None:
    group: Any = SimpleNamespace(id=1)
    over = Cancelled(group, False, "no")
    questions = after(proposal(1), over)
    assert [*questions.asked(proposal(1), 10.1)] == [
        "is asked about proposal 1, which is no longer open"
    ]
    # The player may be on its way to this question.
    questions = after(proposal(1))
    questions.follow(ACT, told(over), 11.0)
    assert [*questions.asked(proposal(1), 11.1)] == []
    questions = after(proposal(1))
    questions.follow(ACT, told(over), 11.0)
    assert len([*questions.asked(proposal(1), 19.0)]) == 1


def test_two_events_may_come_at_the_same_time() -> None:
    group: Any = SimpleNamespace(id=1)
    questions = after(proposal(1))
    questions.follow(ACT, told(Cancelled(group, False, "no")), 10.0)
    assert [*questions.asked(proposal(1), 10.1)] == []
