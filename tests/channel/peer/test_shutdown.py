"""The clean shutdown: both balances straight out of the channel coin, and what can go wrong."""

from __future__ import annotations

from itertools import product

import pytest

from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto import bls
from channelsim.channel.peer.chain_news import ChannelClosed, UnilateralClose
from channelsim.channel.peer.interface import (
    BrokenOff,
    CancelGames,
    Close,
    GameSettled,
    ShutdownStarted,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.half_signed import publish
from channelsim.channel.protocol.messages import Request, Shutdown, ShutdownDone, decode, encode
from tests.channel.on_chain import reward, take
from tests.channel.peer.hostile import kinds, quiet
from tests.channel.peer.hostile_shutdowns import closing, shutdown_half
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    CONFIRMATIONS,
    Cheat,
    End,
    Table,
    accepted,
    sit,
)


def phase(end: End) -> Phase:
    return end.peer.phase


def closed(table: Table) -> bool:
    return all(phase(end) is Phase.CLOSED for end in table.ends)


@pytest.mark.parametrize("index", [ANN, BEN])
@pytest.mark.parametrize("played", [False, True])
def test_both_are_paid_their_balances(index: int, played: bool) -> None:
    table = sit().open()
    if played:
        table.propose(ANN).go_on()
    balances = table.ends[ANN].state.balances
    assert played == (balances != (BALANCE, BALANCE))
    table.command(index, Close())
    table.pump()
    assert [phase(end) for end in table.ends] == [Phase.COMPLETED] * 2
    table.farm(1 + CONFIRMATIONS)
    assert closed(table)
    assert (reward(table, ANN), reward(table, BEN)) == balances
    for end in table.ends:
        (news,) = end.news_of(ChannelClosed)
        assert isinstance(news, ChannelClosed)
        assert tuple(coin.amount for coin in news.rewards) == balances
        assert {coin.parent for coin in news.rewards} == {table.channel.coin.id}
    asked = [end.news_of(ShutdownStarted) for end in table.ends]
    assert asked[index] == [ShutdownStarted(True, balances)]
    assert asked[1 - index] == [ShutdownStarted(False, balances)]


@pytest.mark.parametrize("contributions", [(0, BALANCE), (BALANCE, 0)])
def test_a_balance_of_nothing_makes_no_coin(contributions: tuple[int, int]) -> None:
    table = sit(contributions=contributions).open()
    table.command(ANN, Close())
    table.pump().farm(1 + CONFIRMATIONS)
    assert closed(table)
    assert (reward(table, ANN), reward(table, BEN)) == contributions
    (news,) = table.ends[ANN].news_of(ChannelClosed)
    assert isinstance(news, ChannelClosed)
    assert len(news.rewards) == 1


def test_the_half_is_answered_once_and_the_completion_not_at_all() -> None:
    table = sit().open()
    assert "Send" in kinds(table.command(BEN, Close()))
    assert kinds(table.deliver()).index("Send") == 0
    assert "Send" not in kinds(table.deliver())


def test_a_completed_shutdown_is_pushed_until_it_is_confirmed() -> None:
    table = sit().open()
    table.command(BEN, Close())
    table.pump()
    for end in table.ends:
        assert accepted(end, "shutdown")
        count = len(end.pushed)
        # A block that does not have it: nobody's chain says so, but this is what it looks like.
        effects = end.peer.handle(_empty_block(table))
        assert kinds(effects) == ["shutdown"]
        assert len(end.pushed) == count


def _empty_block(table: Table) -> Block:
    seen = table.chain.coin(table.channel.coin.id)
    assert seen is not None
    return Block(table.chain.peak(), (seen,))


def test_messages_after_the_completed_shutdown_are_ignored() -> None:
    table = sit().open()
    table.command(BEN, Close())
    table.pump()
    for index, end in enumerate(table.ends):
        cheat = Cheat(table, 1 - index)
        for message in (
            encode(Request()),
            encode(shutdown_half(cheat)),
            encode(cheat.batch()),
            b"\xc1",
            b"",
            table.sent[0][1],
        ):
            assert quiet(table.receive(index, message))
        assert phase(end) is Phase.COMPLETED
    table.farm(1 + CONFIRMATIONS)
    assert closed(table)


def test_a_completion_that_is_published_but_never_sent_closes_the_channel() -> None:
    table = sit().open()
    table.command(BEN, Close())
    table.pump(lambda _, blob: None if isinstance(decode(blob), ShutdownDone) else blob)
    assert [phase(end) for end in table.ends] == [Phase.COMPLETED, Phase.CLOSING]
    table.farm(1 + CONFIRMATIONS)
    assert closed(table)
    assert not table.ends[BEN].news_of(BrokenOff)


def test_an_unroll_that_wins_the_race_is_not_mistaken_for_the_shutdown() -> None:
    table = sit().open()
    table.command(BEN, Close())
    asked = table.take_mail()
    assert isinstance(decode(asked), Shutdown)
    ann = Cheat(table, ANN)
    take(table, publish(table.channel, ann.keys, table.ends[ANN].play.newest))
    table.farm()
    ben = table.ends[BEN]
    assert phase(ben) is Phase.ON_CHAIN
    # A unilateral close breaks no rule, and there is nothing left to publish.
    assert ben.news_of(UnilateralClose)
    assert not ben.news_of(BrokenOff)


def test_a_violation_while_we_wait_for_the_completion_publishes_the_newest_state() -> None:
    cheat = closing()
    table = cheat.table
    cheat.send(b"\xc1")
    assert phase(table.ends[BEN]) is Phase.ON_CHAIN
    bundle = accepted(table.ends[BEN], "unroll")
    assert bundle.spends[0].coin == table.channel.coin


def test_a_completion_made_by_hand_is_accepted() -> None:
    cheat = closing()
    table = cheat.table
    halves = [shutdown_half(one).half for one in (cheat, Cheat(table, BEN))]
    cheat.send(ShutdownDone(bls.add(*halves)))
    assert phase(table.ends[BEN]) is Phase.COMPLETED
    assert accepted(table.ends[BEN], "shutdown")


# --- closing beside play -------------------------------------------------------------------------


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
