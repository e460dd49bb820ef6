"""Turns, settlements and early reveals, and the commands that a player cannot give."""

from __future__ import annotations

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Close,
    Command,
    GameSettled,
    ProposeGames,
    SawCards,
    YourTurn,
)
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    decode,
)
from channelsim.games.contract import Action
from tests.channel.peer.hostile import quiet
from tests.channel.peer.test_potato import two_games_each_with_its_own_turn
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    STAKE,
    Table,
    playing,
    sent_kinds,
    sent_messages,
    sit,
    wish,
)


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


def test_a_decision_waits_for_the_potato() -> None:
    """A player may decide while the other side holds the potato."""
    table = two_games_each_with_its_own_turn()
    holder = table.holder()
    other = 1 - holder
    game = next(game for game in table.ends[other].state.games if game.mover == other)
    player = table.ends[other].play.players.get(game.id)
    assert player is not None
    since = len(table.sent)
    table.command(other, Act(game.id, Action(player.choices()[0].verb)))
    assert sent_kinds(table, since) == [(other, "Request")]
    table.pump()
    assert playing(table)
    moved = table.ends[holder].state.game(game.id)
    assert moved is None or moved.coin != game.coin


def test_the_terminal_move_is_settled_in_the_next_batch() -> None:
    table = sit().open().propose(ANN).go_on()
    batches = [message for _, message in sent_messages(table) if isinstance(message, Batch)]
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
        assert end.play.players == {}


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
