"""Proposals: accepted, cancelled, and refused, alone and in groups."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Cancelled,
    GameSettled,
    GameStarted,
    Proposed,
)
from channelsim.channel.protocol.messages import (
    Batch,
    Request,
    decode,
)
from channelsim.channel.protocol.messages import Cancel as CancelAction
from channelsim.channel.protocol.messages import Propose as ProposeAction
from channelsim.channel.protocol.proposals import offer_of
from channelsim.channel.protocol.transitions import MAX_OPEN_PROPOSALS
from tests.channel.peer.hostile_batches import ann_has_the_potato, offers
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    STAKE,
    Cheat,
    Table,
    by_policy,
    playing,
    sit,
    wish,
)


def test_a_proposal_is_reported_accepted_and_started_on_both_sides() -> None:
    table = sit().open().propose(BEN).pump()
    (proposed,) = table.ends[ANN].news_of(Proposed)
    assert isinstance(proposed, Proposed)
    assert proposed.group.proposer is BEN
    assert proposed.group.id == 1
    table.command(ANN, AcceptGames(1))
    table.pump()
    for end in table.ends:
        assert len(end.news_of(GameStarted)) == 1
        assert end.state.balances == (BALANCE - STAKE, BALANCE - STAKE)


def test_a_group_is_accepted_as_a_whole_with_a_turn_in_each() -> None:
    table = sit().open().propose(ANN, wish(), wish(alice=False), wish(unit=50)).pump()
    table.command(BEN, AcceptGames(table.ends[BEN].offers.popitem()[0]))
    assert [game.id for game in table.ends[BEN].state.games] == [0, 2, 4]
    assert table.ends[BEN].state.balances == (BALANCE - 5 * STAKE // 2,) * 2
    table.go_on(by_policy("random", "x"), by_policy("random", "y"))
    assert playing(table)
    assert table.ends[ANN].state.games == ()
    assert sum(table.ends[ANN].state.balances) == 2 * BALANCE


def test_ids_rise_by_two_on_each_side() -> None:
    table = sit().open()
    for _ in range(3):
        table.propose(ANN).go_on().propose(BEN).go_on()
    started = [news.game.id for news in table.ends[ANN].news if isinstance(news, GameStarted)]
    assert started == [0, 1, 2, 3, 4, 5]


def test_an_id_may_skip_a_thousand() -> None:
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch(offers(ben, 2001)))
    assert [*table.ends[ANN].offers] == [2001]
    assert table.ends[ANN].state.next_ids == (0, 2003)
    ann = ann_has_the_potato()
    ann.send(ann.batch(offers(ann, 2000)))
    assert [*ann.table.ends[BEN].offers] == [2000]


def test_a_hundred_proposals_may_be_open() -> None:
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch(offers(ben, *range(1, 101, 2)), offers(ben, *range(101, 201, 2))))
    assert playing(table)
    assert [*table.ends[ANN].offers] == [1, 101]


def test_either_side_may_cancel() -> None:
    for index, mine in ((ANN, False), (BEN, True)):
        table = sit().open().propose(BEN).pump()
        table.command(index, CancelGames(1, "not now"))
        if index == BEN:
            # Ann thinks; she gives the potato to Ben, who asked for it.
            table.pump()
        table.pump()
        assert table.ends[ANN].state.groups == () == table.ends[BEN].state.groups
        (news,) = table.ends[1 - index].news_of(Cancelled)
        assert isinstance(news, Cancelled)
        assert (news.reason, news.mine) == ("not now", not mine)


def test_a_player_may_give_its_reason_in_any_words() -> None:
    """The message has plain ones only: or the other side would have to refuse the batch."""
    table = sit().open().propose(BEN).pump()
    table.command(ANN, CancelGames(1, "trop t\u00f4t\n" + "x" * 400))
    table.pump()
    assert playing(table)
    (news,) = table.ends[BEN].news_of(Cancelled)
    assert isinstance(news, Cancelled)
    assert news.reason.startswith("trop t?t?x")


def test_a_cancel_that_crosses_an_acceptance_has_no_effect() -> None:
    table = sit().open().propose(BEN).pump()
    table.command(BEN, CancelGames(1, "I changed my mind"))
    table.command(ANN, AcceptGames(1))
    table.pump()
    assert playing(table)
    assert [game.id for game in table.ends[BEN].state.games] == [1]
    table.go_on()
    assert len(table.ends[ANN].news_of(GameSettled)) == 1


def test_a_cancel_that_crosses_a_cancel_has_no_effect() -> None:
    table = sit().open().propose(BEN).pump()
    table.command(BEN, CancelGames(1, "I changed my mind"))
    table.command(ANN, CancelGames(1, "no"))
    table.pump()
    assert playing(table)
    assert table.ends[ANN].state.groups == () == table.ends[BEN].state.groups


def unfit(**changes: object) -> Table:
    """Ben offers what Ann will not play, its record being right as far as there is one."""

    table = sit().open()
    ben = Cheat(table, BEN)
    (offer,) = offers(ben, 1).offers
    offer = replace(offer, **changes)
    ben.send(ben.batch(ProposeAction((offer,))))
    return table


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": "chess"}, "chess"),
        ({"game": "channelsim.games.registry"}, "no game is called"),
        ({"game": "../spacepoker"}, "no game is called"),
        ({"timeout": 10}, "too short"),
        ({"timeout": 1}, "too short"),
        ({"parameters": {}}, "SP-TERMS-1"),
        ({"parameters": {"amount": 200, "bet_unit": 100, "more": 1}}, "SP-TERMS-1"),
        ({"parameters": {"amount": 201, "bet_unit": 100}}, "SP-TERMS-2"),
        ({"parameters": {"amount": 0, "bet_unit": 100}}, "SP-TERMS-2"),
        ({"parameters": {"amount": -200, "bet_unit": 100}}, "SP-TERMS-2"),
        ({"parameters": {"amount": (1 << 64) - 2, "bet_unit": 1}}, "SP-TERMS-3"),
        ({"parameters": {"amount": 200, "bet_unit": 0}}, "SP-TERMS-4"),
        ({"parameters": {"amount": 200, "bet_unit": 30}}, "SP-TERMS-5"),
    ],
)
def test_an_unfit_proposal_is_cancelled_with_a_reason(
    changes: dict[str, object], reason: str
) -> None:
    table = unfit(**changes)
    assert playing(table)
    answer = decode(table.take_mail())
    assert isinstance(answer, Batch)
    (cancel,) = answer.actions
    assert isinstance(cancel, CancelAction)
    assert reason in cancel.reason
    assert table.ends[ANN].state.groups == ()
    assert not table.ends[ANN].news_of(GameStarted)


def test_the_shortest_timeout_is_accepted() -> None:
    table = unfit(timeout=11)
    assert [*table.ends[ANN].offers] == [1]


def test_one_unfit_game_spoils_its_group_and_no_other() -> None:

    table = sit().open()
    ben = Cheat(table, BEN)
    first, second = offers(ben, 1, 3).offers
    group = ProposeAction((first, replace(second, timeout=3)))
    ben.send(ben.batch(group, offers(ben, 5)))
    assert [*table.ends[ANN].offers][-1] == 5
    table.command(ANN, AcceptGames(5))
    answer = decode(table.take_mail())
    assert isinstance(answer, Batch)
    assert [type(action).__name__ for action in answer.actions] == ["Cancel", "Accept"]


def test_an_acceptance_that_the_balances_do_not_cover_is_a_cancel() -> None:
    table = sit().open().propose(BEN, *[wish(stack=20)] * 3).pump()
    table.command(ANN, AcceptGames(1))
    answer = decode(table.take_mail())
    assert isinstance(answer, Batch)
    (cancel,) = answer.actions
    assert isinstance(cancel, CancelAction)
    assert "covers" in cancel.reason


def test_of_two_proposals_the_second_is_cancelled_if_only_one_is_covered() -> None:
    table = sit().open().propose(BEN, wish(stack=30)).propose(BEN, wish(stack=30)).pump()
    if len(table.ends[ANN].offers) < 2:
        table.receive(ANN, Request())
        table.pump()
    for group_id in (1, 3):
        table.command(ANN, AcceptGames(group_id))
    table.pump()
    assert playing(table)
    assert [game.id for game in table.ends[ANN].state.games] == [1]
    assert len(table.ends[BEN].news_of(Cancelled)) == 1


def test_more_than_a_hundred_games_are_cancelled_not_played() -> None:
    table = sit().open()
    ben = Cheat(table, BEN)
    small = [wish(unit=1, stack=1)] * 60
    for first in (1, 121):
        offered = tuple(
            offer_of(table.channel, BEN, first + 2 * i, one) for i, one in enumerate(small[:50])
        )
        ben.send(ben.batch(ProposeAction(offered)))
        if first == 1:
            table.receive(ANN, Request())
            table.mail.clear()
    table.command(ANN, AcceptGames(1))
    table.command(ANN, AcceptGames(121))
    answer = decode(table.take_mail())
    assert isinstance(answer, Batch)
    assert len(table.ends[ANN].state.games) == 100


def test_our_proposal_is_cancelled_when_theirs_leave_no_room() -> None:
    table = sit().open()
    ben = Cheat(table, BEN)
    table.propose(ANN)
    table.mail.clear()
    ben.send(ben.batch(offers(ben, *range(1, 2 * MAX_OPEN_PROPOSALS, 2))))
    table.receive(ANN, Request())
    assert playing(table)
    (news,) = table.ends[ANN].news_of(Cancelled)
    assert isinstance(news, Cancelled)
    assert news.mine
    assert "100" in news.reason
