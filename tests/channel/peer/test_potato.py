"""The token, batches, proposals, and what crosses: what honest peers do, and have to bear."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Cancelled,
    Close,
    Command,
    GameSettled,
    GameStarted,
    Ignored,
    Proposed,
    ProposeGames,
    SawCards,
    ShutdownStarted,
    YourTurn,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    Message,
    Request,
    Shutdown,
    decode,
    encode,
)
from channelsim.channel.protocol.messages import Cancel as CancelAction
from channelsim.channel.protocol.messages import Propose as ProposeAction
from channelsim.channel.protocol.proposals import offer_of
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.transitions import MAX_OPEN_PROPOSALS
from channelsim.games.contract import Action
from tests.channel.peer.hostile import quiet
from tests.channel.peer.hostile_batches import ann_has_the_potato, offers
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    STAKE,
    Cheat,
    Table,
    by_policy,
    sit,
    wish,
)


def messages(table: Table, since: int = 0) -> list[tuple[int, Message]]:
    return [(sender, decode(blob)) for sender, blob in table.sent[since:]]


def kinds(table: Table, since: int = 0) -> list[tuple[int, str]]:
    return [(sender, type(message).__name__) for sender, message in messages(table, since)]


def playing(table: Table) -> bool:
    return all(end.peer.phase is Phase.PLAYING for end in table.ends)


# --- asking, crossing, repeating -----------------------------------------------------------------


def test_a_request_for_the_potato_is_answered_by_an_empty_batch() -> None:
    table = sit().open()
    since = len(table.sent)
    table.propose(ANN)
    assert kinds(table, since) == [(ANN, "Request")]
    table.pump()
    assert kinds(table, since) == [(ANN, "Request"), (BEN, "Batch"), (ANN, "Batch")]
    empty = messages(table, since)[1][1]
    assert isinstance(empty, Batch)
    assert empty.actions == ()


def test_the_potato_is_requested_once() -> None:
    table = sit().open()
    since = len(table.sent)
    table.propose(ANN).propose(ANN)
    assert kinds(table, since) == [(ANN, "Request")]
    table.pump()
    assert len(table.ends[BEN].state.groups) == 2


def test_a_request_that_crosses_a_batch_is_ignored() -> None:
    table = sit().open()
    table.propose(BEN)  # sends at once
    table.propose(ANN)  # asks, not knowing
    assert [receiver for receiver, _ in table.mail] == [ANN, BEN]
    table.pump()
    assert table.ends[BEN].news_of(Ignored)
    assert playing(table)
    assert table.ends[ANN].offers == [1]
    # Ann thinks about Ben's offer before she makes hers.
    table.command(ANN, AcceptGames(1))
    table.pump()
    assert table.ends[BEN].offers == [0]
    assert [group.id for group in table.ends[BEN].state.groups] == [0]


def last_batch(table: Table, sender: int) -> bytes:
    return next(
        blob
        for index, blob in reversed(table.sent)
        if index == sender and isinstance(decode(blob), Batch)
    )


def test_an_identical_repeat_of_the_last_batch_is_ignored_with_and_without_the_potato() -> None:
    table = sit().open().propose(BEN).pump()
    last = table.sent[-1][1]
    assert table.ends[ANN].play.potato
    before = table.ends[ANN].play
    assert quiet(table.receive(ANN, last))
    assert table.ends[ANN].play == before
    table.command(ANN, AcceptGames(1))
    table.pump()
    if table.ends[ANN].play.potato:
        table.receive(ANN, Request())
    assert not table.ends[ANN].play.potato
    newest = last_batch(table, BEN)
    before = table.ends[ANN].play
    assert quiet(table.receive(ANN, newest))
    assert table.ends[ANN].play == before
    assert playing(table)


def test_a_repeat_is_ignored_while_the_shutdown_is_answered() -> None:
    table = sit().open().propose(BEN).pump()
    table.command(ANN, CancelGames(1, "no"))
    table.pump()
    last = last_batch(table, ANN)
    table.command(BEN, Close())
    assert table.ends[BEN].peer.phase is Phase.CLOSING
    for message in (last, encode(Request()), encode(Advisory(1, b"x"))):
        assert quiet(table.receive(BEN, message))
    assert table.ends[BEN].peer.phase is Phase.CLOSING


def test_an_undecided_holder_gives_the_potato_away_and_requests_it_back() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].turns))
    since = len(table.sent)
    table.propose(BEN).pump()
    # Ben asked, got it, proposed: so Ann has it again, and did not have to ask.
    sent = kinds(table, since)
    assert sent[:3] == [(BEN, "Request"), (ANN, "Batch"), (BEN, "Batch")]
    assert table.ends[ANN].play.potato
    table.go_on()
    assert playing(table)
    assert len(table.ends[ANN].news_of(GameSettled)) == 2


def test_an_undecided_mover_requests_the_potato_back_with_the_next_block() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].turns))
    table.ask(BEN)
    assert table.ends[BEN].play.potato
    since = len(table.sent)
    table.farm()
    assert kinds(table, since) == [(ANN, "Request")]
    table.pump()
    assert table.ends[ANN].play.potato
    table.go_on()
    assert len(table.ends[ANN].news_of(GameSettled)) == 1


def test_two_idle_players_do_not_bounce_the_potato() -> None:
    table = two_games_each_with_its_own_turn()
    movers = {game.mover for game in table.ends[ANN].state.games}
    assert movers == {Side.INITIATOR, Side.RECEIVER}
    for _ in range(5):
        since = len(table.sent)
        table.ask(1 - table.holder())
        assert len(table.sent) - since == 1
        table.farm().pump()
        assert len(table.sent) - since == 3
    assert playing(table)
    table.go_on()
    assert [len(end.news_of(GameSettled)) for end in table.ends] == [2, 2]


def two_games_each_with_its_own_turn() -> Table:
    """In one game Ann has to decide, in the other Ben.

    Who moves in all games before passing the potato on never comes to this; so one side
    thinks in the first game, and gives the potato back without a move, as often as asked.
    """
    for seed in ("a", "b", "c", "d", "e", "f", "g", "h"):
        table = sit(seed).open().propose(ANN)
        while not any(end.turns for end in table.ends):
            table.step()
        thinks = next(index for index, end in enumerate(table.ends) if end.turns)
        table.propose(1 - thinks).pump()
        table.command(thinks, AcceptGames(table.ends[thinks].offers.pop()))
        for _ in range(4):
            games = table.ends[thinks].state.games
            if len(games) == 2 and all(_decides(table, game.id, game.mover) for game in games):
                if games[0].mover is not games[1].mover:
                    return table
                break
            table.ask(1 - thinks)
    raise AssertionError("no such moment")


def _decides(table: Table, game_id: int, side: Side) -> bool:
    player = table.ends[side].play.player(game_id)
    assert player is not None
    return len(player.choices()) > 1


# --- proposals -----------------------------------------------------------------------------------


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
    table.command(BEN, AcceptGames(table.ends[BEN].offers.pop()))
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
    assert table.ends[ANN].offers == [2001]
    assert table.ends[ANN].state.next_ids == (0, 2003)
    ann = ann_has_the_potato()
    ann.send(ann.batch(offers(ann, 2000)))
    assert ann.table.ends[BEN].offers == [2000]


def test_a_hundred_proposals_may_be_open() -> None:
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch(offers(ben, *range(1, 101, 2)), offers(ben, *range(101, 201, 2))))
    assert playing(table)
    assert table.ends[ANN].offers == [1, 101]


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
    assert table.ends[ANN].offers == [1]


def test_one_unfit_game_spoils_its_group_and_no_other() -> None:

    table = sit().open()
    ben = Cheat(table, BEN)
    first, second = offers(ben, 1, 3).offers
    group = ProposeAction((first, replace(second, timeout=3)))
    ben.send(ben.batch(group, offers(ben, 5)))
    assert table.ends[ANN].offers[-1] == 5
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


# --- what a player cannot command ----------------------------------------------------------------


def impossible(table: Table, index: int, command: Command, words: str) -> None:
    before = table.ends[index].play
    with pytest.raises(UsageError, match=words):
        table.command(index, command)
    assert table.ends[index].play == before
    assert playing(table)


def test_impossible_commands_are_refused_and_change_nothing() -> None:
    table = sit().open().propose(BEN).pump()
    impossible(table, ANN, AcceptGames(7), "no proposal 7")
    impossible(table, ANN, CancelGames(7, "no"), "no proposal 7")
    impossible(table, BEN, AcceptGames(1), "our own")
    impossible(table, ANN, Act(1, Action("call")), "no game 1")
    impossible(table, ANN, ProposeGames(()), "no game is named")
    impossible(table, ANN, ProposeGames((wish(timeout=5),)), "too short")
    impossible(table, ANN, ProposeGames((wish(timeout=0),)), "too short")
    impossible(table, ANN, ProposeGames((wish(game="chess"),)), "chess")
    impossible(table, ANN, ProposeGames((wish(unit=0),)), "SP-TERMS")
    impossible(table, ANN, ProposeGames((wish(),) * 101), "at most 100")
    table.propose(BEN)
    table.ends[BEN].peer.handle(CancelGames(1, "no"))
    impossible(table, BEN, CancelGames(1, "no"), "answered already")
    table.command(ANN, AcceptGames(1))
    table.ends[ANN].offers.clear()
    table.until(lambda: any(end.turns for end in table.ends))
    mover = next(index for index, end in enumerate(table.ends) if end.turns)
    game_id = table.ends[mover].turns[0]
    impossible(table, 1 - mover, Act(game_id, Action("call")), "the other player's turn")
    impossible(table, mover, Act(game_id, Action("dance")), "cannot dance")
    impossible(table, mover, Act(game_id, Action("bet", 1_000_000)), "out of bounds")


def test_no_command_is_taken_before_play_nor_after() -> None:
    table = sit().start()
    for command in (ProposeGames((wish(),)), Close(), AcceptGames(0)):
        with pytest.raises(UsageError, match="not now"):
            table.command(ANN, command)
    table = sit().open()
    table.receive(ANN, b"")
    with pytest.raises(UsageError, match="not now"):
        table.command(ANN, Close())


# --- turns, settlements, early reveals -----------------------------------------------------------


def test_a_decision_waits_for_the_potato() -> None:
    """A player may decide while the other side holds the potato."""
    table = two_games_each_with_its_own_turn()
    holder = table.holder()
    other = 1 - holder
    game = next(game for game in table.ends[other].state.games if game.mover == other)
    player = table.ends[other].play.player(game.id)
    assert player is not None
    since = len(table.sent)
    table.command(other, Act(game.id, Action(player.choices()[0].verb)))
    assert kinds(table, since) == [(other, "Request")]
    table.pump()
    assert playing(table)
    moved = table.ends[holder].state.game(game.id)
    assert moved is None or moved.coin != game.coin


def test_the_terminal_move_is_settled_in_the_next_batch() -> None:
    table = sit().open().propose(ANN).go_on()
    batches = [message for _, message in messages(table) if isinstance(message, Batch)]
    names = [[type(action).__name__ for action in batch.actions] for batch in batches]
    assert names[-1] == ["Settle"]
    assert names[-2] == ["Move"]
    settled = [end.news_of(GameSettled)[0] for end in table.ends]
    assert {news.by_us for news in settled if isinstance(news, GameSettled)} == {True, False}


def test_a_fold_pays_the_mover_share() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: any(end.turns for end in table.ends))
    mover = next(index for index, end in enumerate(table.ends) if end.turns)
    game = table.ends[mover].state.games[0]
    table.command(mover, Act(game.id, Action("fold")))
    table.pump()
    paid = [BALANCE - STAKE] * 2
    paid[mover] += game.coin.mover_share
    paid[1 - mover] += game.coin.waiter_share
    for end in table.ends:
        assert end.state.balances == tuple(paid)
        assert end.state.games == ()
        assert end.play.players == ()


def test_early_reveals_are_checked_and_change_no_state() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: any(isinstance(decode(blob), Advisory) for _, blob in table.mail))
    receiver, blob = next(one for one in table.mail if isinstance(decode(one[1]), Advisory))
    advisory = decode(blob)
    assert isinstance(advisory, Advisory)
    while table.mail[0][1] != blob:
        table.deliver()
    table.take_mail()
    end = table.ends[receiver]
    before = end.play
    for wrong in (
        Advisory(advisory.game_id, bytes(32)),
        Advisory(advisory.game_id, b""),
        Advisory(advisory.game_id, advisory.data[:31]),
        Advisory(advisory.game_id, bytes(4096)),
        Advisory(99, advisory.data),
    ):
        assert quiet(table.receive(receiver, wrong))
        assert end.play == before
    table.receive(receiver, advisory)
    (news,) = end.news_of(SawCards)
    assert isinstance(news, SawCards)
    assert end.play.state == before.state
    assert end.play.potato == before.potato
    known = end.play
    assert quiet(table.receive(receiver, advisory))  # known already
    assert end.play == known
    table.go_on()
    assert playing(table)
    assert quiet(table.receive(receiver, advisory))  # late


def test_without_any_early_reveal_everything_goes_on() -> None:
    def drop(_: int, blob: bytes) -> bytes | None:
        return None if isinstance(decode(blob), Advisory) else blob

    table = sit().open()
    table.propose(ANN)
    for _ in range(100):
        table.pump(drop)
        if not table.step():
            break
    plain = sit().open().propose(ANN).go_on()
    assert not table.ends[BEN].news_of(SawCards)
    assert table.ends[ANN].state.balances == plain.ends[ANN].state.balances


def test_only_a_player_who_has_to_decide_is_asked() -> None:
    table = sit().open().propose(ANN).go_on()
    for index, end in enumerate(table.ends):
        acted = len(end.news_of(YourTurn))
        assert acted >= 2, index


# --- closing -------------------------------------------------------------------------------------


def test_close_waits_for_a_settlement_by_either_side() -> None:
    for index, first in product((ANN, BEN), (ANN, BEN)):
        table = sit().open().propose(first)
        while not any(end.turns for end in table.ends):
            table.step()
        table.command(index, Close())
        table.go_on()
        started = [end.news_of(ShutdownStarted) for end in table.ends]
        assert [len(news) for news in started] == [1, 1], (index, first)
        assert len(table.ends[ANN].news_of(GameSettled)) == 1


def test_both_may_want_to_close_at_once() -> None:
    table = sit().open()
    table.command(ANN, Close())
    table.command(BEN, Close())
    table.pump().farm(6)
    assert [end.peer.phase for end in table.ends] == [Phase.CLOSED] * 2


def test_a_shutdown_drops_open_proposals() -> None:
    table = sit().open().propose(BEN).pump()
    table.command(BEN, Close())
    table.command(ANN, CancelGames(1, "no"))
    table.pump().farm(6)
    assert [end.peer.phase for end in table.ends] == [Phase.CLOSED] * 2
    # One's own, which the other has not seen yet or not answered.
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch())
    table.propose(ANN)
    table.mail.clear()
    table.receive(ANN, ben.batch())
    assert len(table.ends[ANN].state.groups) == 1
    table.command(ANN, Close())
    assert isinstance(decode(table.take_mail()), Shutdown)
