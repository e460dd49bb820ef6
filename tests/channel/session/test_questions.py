"""Questions to a slow player: one for each decision, however often the peer asks."""

from __future__ import annotations

import msgspec

from channelsim.channel.peer.interface import Proposed, YourTurn
from channelsim.channel.protocol.messages import Cancel
from channelsim.channel.protocol.state import Group, Side
from channelsim.channel.session.questions import Questions
from tests.channel.session.test_driver import OFFER
from tests.channel.table import ANN, BEN, Cheat, sit

OFFERED = Proposed(Group(Side.RECEIVER, (OFFER,)))


def test_many_returns_of_the_potato_leave_one_question() -> None:
    questions = Questions()
    for _ in range(10_000):
        questions.ask(YourTurn(3))
        questions.ask(OFFERED)
    assert len(questions) == 2
    # While the player thinks, the question is asked again.
    asked = questions.next()
    assert asked == OFFERED
    questions.ask(OFFERED)
    questions.answered(asked)
    assert questions.next() == YourTurn(3)
    questions.answered(YourTurn(3))
    assert questions.next() is None


def test_a_turn_waits_for_one_proposal_only() -> None:
    questions = Questions()
    questions.ask(YourTurn(3))
    for number in range(0, 20, 2):
        offer = msgspec.structs.replace(OFFER, game_id=number)
        questions.ask(Proposed(Group(Side.INITIATOR, (offer,))))
    kinds = []
    while (question := questions.next()) is not None:
        kinds.append(type(question))
        questions.answered(question)
    assert kinds == [Proposed, YourTurn, *[Proposed] * 9]


def test_an_undecided_player_is_asked_once_in_a_game() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].turns))
    for _ in range(30):
        table.ask(BEN)
        table.farm().pump()
    assert len(table.ends[ANN].driven.questions) == 1
    assert len(table.ends[ANN].news_of(YourTurn)) > 15


def test_a_proposal_that_is_withdrawn_is_not_asked_about() -> None:
    table = sit().open().propose(BEN).pump()
    questions = table.ends[ANN].driven.questions
    assert len(questions) == 1
    table.ask(BEN)
    ben = Cheat(table, BEN)
    ben.send(ben.batch(Cancel(1, "no more")))
    assert len(questions) == 0
