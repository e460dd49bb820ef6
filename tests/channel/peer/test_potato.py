"""The holder of the potato: asking for it, crossing messages, and repeats."""

from __future__ import annotations

from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Close,
    GameSettled,
    Ignored,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    Request,
    decode,
    encode,
)
from channelsim.channel.protocol.state import Side
from tests.channel.peer.hostile import quiet
from tests.channel.table import (
    ANN,
    BEN,
    Table,
    playing,
    sent_kinds,
    sent_messages,
    sit,
)


def test_a_request_for_the_potato_is_answered_by_an_empty_batch() -> None:
    table = sit().open()
    since = len(table.sent)
    table.propose(ANN)
    assert sent_kinds(table, since) == [(ANN, "Request")]
    table.pump()
    assert sent_kinds(table, since) == [(ANN, "Request"), (BEN, "Batch"), (ANN, "Batch")]
    empty = sent_messages(table, since)[1][1]
    assert isinstance(empty, Batch)
    assert empty.actions == ()


def test_the_potato_is_requested_once() -> None:
    table = sit().open()
    since = len(table.sent)
    table.propose(ANN).propose(ANN)
    assert sent_kinds(table, since) == [(ANN, "Request")]
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
    sent = sent_kinds(table, since)
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
    assert sent_kinds(table, since) == [(ANN, "Request")]
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
    player = table.ends[side].play.players.get(game_id)
    assert player is not None
    return len(player.choices()) > 1
