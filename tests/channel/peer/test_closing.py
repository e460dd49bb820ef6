"""What the player asks for happens in time, whatever the other side does within the rules."""

from __future__ import annotations

import msgspec
import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Cancelled,
    Close,
    Connected,
    GameSettled,
    NotProposed,
    ProposeGames,
    Send,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.phases.resuming import last_numbers
from channelsim.channel.peer.play.next_step import IDLE_BATCHES
from channelsim.channel.protocol.messages import (
    Batch,
    Funded,
    Message,
    Propose,
    Request,
    Shutdown,
    ShutdownDone,
    decode,
)
from channelsim.channel.protocol.proposals import offer_of
from tests.channel.disputes import farm
from tests.channel.peer.hostile_shutdowns import shutdown_half
from tests.channel.peer.test_deadlines import TIMES, blocks_until_broken, patient
from tests.channel.peer.test_potato import two_games_each_with_its_own_turn
from tests.channel.table import ANN, BEN, Cheat, Table, broken_off, call, sent_kinds, sit, wish


def unfit(table: Table, index: int) -> Propose:
    """A proposal of this side that the other has to cancel."""
    first = table.ends[1 - index].state.next_ids[index]
    short = msgspec.structs.replace(wish(), timeout=1)
    return Propose((offer_of(table.channel, table.ends[index].endpoint.side, first, short),))


def messages(table: Table, index: int, since: int) -> list[Message]:
    return [decode(blob) for sender, blob in table.sent[since:] if sender == index]


# --- the shutdown comes first -------------------------------------------------------------------


def test_an_unfit_proposal_with_each_return_of_the_potato_does_not_delay_the_shutdown() -> None:
    table = sit().open()
    ben = Cheat(table, BEN)
    table.command(ANN, Close())
    table.mail.clear()
    since = len(table.sent)
    ben.send(ben.batch(unfit(table, BEN)))
    (shutdown,) = messages(table, ANN, since)
    assert isinstance(shutdown, Shutdown)
    ben.send(ShutdownDone(bls.add(shutdown.half, shutdown_half(ben).half)))
    assert table.ends[ANN].peer.phase is Phase.COMPLETED
    (cancelled,) = table.ends[ANN].news_of(Cancelled)
    assert isinstance(cancelled, Cancelled)
    assert cancelled.reason == "the channel is closed"


def test_the_shutdown_answers_a_request() -> None:
    """The request came first, on a new connection: it waits for the last numbers."""
    table = sit().open()
    play = msgspec.structs.replace(table.ends[BEN].play, they_asked=True)
    peer = table.ends[BEN].peer
    peer.state = msgspec.structs.replace(peer.state, play=play, resuming=True)
    table.command(BEN, Close())
    since = len(table.sent)
    table.receive(BEN, last_numbers(table.ends[ANN].play))
    sent = messages(table, BEN, since)
    assert [type(one) for one in sent if not isinstance(one, Funded)] == [Shutdown]


def test_a_closing_side_proposes_and_accepts_nothing() -> None:
    table = sit().open().propose(BEN).pump()
    table.ask(BEN)
    table.command(ANN, Close())
    table.mail.clear()
    for command in (ProposeGames((wish(),)), AcceptGames(1)):
        with pytest.raises(UsageError, match="is being closed"):
            table.command(ANN, command)
    table.command(ANN, CancelGames(1, "no"))


def test_proposals_that_were_not_sent_end_with_the_wish_to_close() -> None:
    table = sit().open().propose(ANN)
    table.mail.clear()
    table.command(ANN, Close())
    (news,) = table.ends[ANN].news_of(NotProposed)
    assert isinstance(news, NotProposed)
    assert news.reason == "the channel is being closed"
    assert table.ends[ANN].play.queue == ()


def test_games_of_our_proposals_are_still_accepted_and_played() -> None:
    table = sit().open().propose(BEN)
    table.deliver()
    table.command(BEN, Close())
    table.command(ANN, AcceptGames(table.ends[ANN].offers.pop()))
    table.go_on()
    assert [len(end.news_of(GameSettled)) for end in table.ends] == [1, 1]
    assert [end.peer.phase for end in table.ends] == [Phase.COMPLETED] * 2


# --- while games are live -----------------------------------------------------------------------


def waiting() -> tuple[Table, int]:
    """Ben's move is due in one game, and Ann's in another; this side holds the potato."""
    table = two_games_each_with_its_own_turn()
    return table, table.holder()


def test_a_closing_side_does_not_ask_while_the_other_owes_a_move() -> None:
    """The other side could return the potato without it, and would have its time again."""
    table, holder = waiting()
    closes = 1 - holder
    table.command(closes, Close())
    table.command(holder, Close())
    since = len(table.sent)
    games = table.ends[closes].state.games
    game = next(one for one in games if one.mover == closes)
    # It gave the potato away with a move due, and has to ask for it back: only then.
    play = table.ends[closes].play
    assert play.ask_later or play.we_asked
    peer = table.ends[closes].peer
    peer.state = msgspec.structs.replace(
        peer.state, play=msgspec.structs.replace(play, ask_later=False, we_asked=False)
    )
    player = peer.player(game.id)
    assert player is not None
    table.command(closes, Act(game.id, call(player)))
    table.farm(3)
    assert sent_kinds(table, since) == []


def test_a_closing_side_returns_the_potato_at_once_while_the_other_owes_a_move() -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: any(end.turns for end in table.ends))
    mover = next(index for index, end in enumerate(table.ends) if end.turns)
    waiter = 1 - mover
    table.ask(waiter)
    assert table.ends[waiter].play.potato
    since = len(table.sent)
    table.command(waiter, Close())
    assert sent_kinds(table, since) == [(waiter, "Batch")]


def test_an_act_does_not_wait_for_answers_to_proposals() -> None:
    """They are to be in one batch with it, but only if they come before the next block."""
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].turns))
    table.propose(BEN).pump()
    ann = table.ends[ANN]
    assert ann.play.potato
    assert ann.offers
    player = ann.peer.player(0)
    assert player is not None
    since = len(table.sent)
    table.command(ANN, Act(0, call(player)))
    assert sent_kinds(table, since) == []
    table.farm()
    assert sent_kinds(table, since)[0] == (ANN, "Batch")


# --- a new connection starts no time again -------------------------------------------------------


@pytest.mark.parametrize("late", [1, TIMES.response, TIMES.response + TIMES.margin])
def test_late_last_numbers_give_no_more_time_for_the_potato(late: int) -> None:
    table = patient(sit().open())
    ann = table.ends[ANN]
    table.handle(ANN, Connected())
    table.command(ANN, Close())
    for _ in range(late):
        farm(table, dead=(BEN,))
    table.mail.clear()
    assert ann.peer.phase is Phase.PLAYING
    effects = table.receive(ANN, last_numbers(table.ends[BEN].play))
    assert [decode(one.message) for one in effects if isinstance(one, Send)] == [Request()]
    assert blocks_until_broken(table, ANN) == TIMES.response + TIMES.margin + 2 - late
    assert broken_off(ann).blame.rule == "CH-TIME-1"


def test_connections_without_end_do_not_keep_a_side_from_the_chain() -> None:
    table = patient(sit().open())
    table.command(ANN, Close())
    blocks = 0
    while table.ends[ANN].peer.phase is Phase.PLAYING:
        table.handle(ANN, Connected())
        farm(table, dead=(BEN,))
        table.receive(ANN, last_numbers(table.ends[BEN].play))
        table.mail.clear()
        blocks += 1
    assert blocks == TIMES.response + TIMES.margin + 2


# --- the potato to and fro ----------------------------------------------------------------------


def bounce(table: Table, index: int, *actions: Propose) -> int:
    """Ask for the potato and give it back at once, until it does not come; how often it came."""
    cheat = Cheat(table, index)
    other = table.ends[1 - index]
    for number in range(200):
        if other.play.potato:
            cheat.send(Request())
        if other.play.potato:
            return number
        cheat.send(cheat.batch(*(unfit(table, index) for _ in actions)))
    raise AssertionError("it comes for ever")


def test_after_many_idle_batches_a_request_is_answered_with_the_next_block() -> None:
    table = sit().open()
    assert bounce(table, ANN) == IDLE_BATCHES // 2
    for _ in range(3):
        number = table.ends[BEN].state.number
        assert table.ends[BEN].play.they_asked
        farm(table, dead=(ANN,))
        assert table.ends[BEN].state.number == number + 1
        assert bounce(table, ANN) == 1


def test_an_unfit_proposal_each_time_makes_it_no_faster() -> None:
    table = sit().open()
    assert bounce(table, ANN, Propose(())) <= IDLE_BATCHES // 2 + 1
    number = table.ends[BEN].state.number
    farm(table, dead=(ANN,))
    assert table.ends[BEN].state.number == number + 1


def test_what_the_player_wants_does_not_wait_for_a_block() -> None:
    table = sit().open()
    bounce(table, ANN)
    since = len(table.sent)
    table.propose(BEN)
    (batch,) = messages(table, BEN, since)
    assert isinstance(batch, Batch)
    assert batch.actions
