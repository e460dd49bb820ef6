"""From every message of a hand on chain, by either side: the hand is played to its end there.

Both players only check and call, so wherever the hand leaves the messages, it must end as it
would have without.
"""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Forfeited,
    GameVoid,
    LeftForChain,
    StateCounts,
    Undone,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    Act,
    BrokenOff,
    Cancelled,
    Close,
    GoOnChain,
    NotProposed,
    OpeningFailed,
    ProposeGames,
    Push,
    Received,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.half_signed import publish
from channelsim.channel.protocol.messages import Shutdown, ShutdownDone, decode
from channelsim.games.contract import Action
from tests.channel.disputes import (
    at_message,
    facts,
    farm,
    leave,
    live,
    publish_old,
    received,
    rewards,
    settle,
    settled,
    sound,
)
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    CONFIRMATIONS,
    STAKE,
    Table,
    broken_off,
    fold,
    sit,
    wish,
)
from tests.sampling import one_in

EVERY = [4, pytest.param(1, marks=pytest.mark.long)]
"""Of the messages of a hand: every fourth one here, the others with the other side or delivery."""


@cache
def played() -> tuple[int, tuple[int, int]]:
    """The number of messages of a hand, and both balances after it."""
    table = at_message(10_000)
    return len(table.sent), table.ends[ANN].state.balances


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("index", one_in(2, [ANN, BEN]))
@pytest.mark.parametrize("delivered", [False, True])
def test_a_hand_pays_on_chain_what_it_would_have_paid_off_chain(
    index: int, delivered: bool, every: int
) -> None:
    count, balances = played()
    voids = 0
    for number in range(7 + (index + delivered) % every, count + 1, every):
        table = at_message(number)
        if not delivered:
            table.mail.clear()
        leave(table, index)
        settle(table)
        sound(table)
        assert not any(end.news_of(Undone) for end in table.ends)
        ann, ben = settled(table.ends[ANN]), settled(table.ends[BEN])
        assert (ann.number, ann.ours) == (ben.number, ben.theirs)
        void = any(end.news_of(GameVoid) for end in table.ends)
        voids += void
        if table.ends[0].state.games or table.ends[1].state.games:
            assert void or rewards(table) == balances, number
    assert voids < 3


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("dead", one_in(2, [BEN, ANN]))
@pytest.mark.parametrize("delivered", [False, True])
def test_a_peer_that_dies_at_any_message_costs_the_other_nothing(
    dead: int, delivered: bool, every: int
) -> None:
    """Its silence alone takes the channel on chain, and what it does not answer it loses."""
    count, balances = played()
    for number in range(7 + (dead + delivered) % every, count + 1, every):
        table = at_message(number)
        if not delivered:
            table.mail.clear()
        alive = table.ends[1 - dead]
        for _ in range(60):
            live(table, dead=(dead,))
            farm(table, (dead,))
        if alive.peer.phase is Phase.PLAYING:
            # Nothing is due from the other side: it may be silent for as long as it likes.
            assert not alive.state.games
            leave(table, 1 - dead)
        else:
            assert broken_off(alive).blame.rule in ("CH-TIME-1", "CH-TIME-2")
        settle(table, dead=(dead,))
        sound(table, dead=(dead,))
        assert settled(alive).ours >= min(balances[1 - dead], BALANCE), number


@pytest.mark.parametrize("dead", [ANN, BEN])
def test_a_peer_that_dies_during_the_opening_leaves_no_money_behind(dead: int) -> None:
    for number in range(1, 7):
        table = sit().start()
        while len(table.sent) < number and table.step():
            pass
        wallets = [end.peer.config.wallet.coin for end in table.ends]
        for _ in range(60):
            table.drop_mail_to(dead)
            table.pump()
            farm(table, (dead,))
        end = table.ends[1 - dead]
        if end.peer.phase is Phase.PLAYING:
            # The funding was complete: what is in the channel is got back through the chain.
            leave(table, 1 - dead)
            settle(table, dead=(dead,))
            assert settled(end).ours == BALANCE
            continue
        begun = number > 1 or dead == BEN
        assert (end.peer.phase is Phase.FAILED) == begun, number
        assert begun == bool(end.news_of(BrokenOff) or end.news_of(OpeningFailed))
        seen = table.chain.coin(wallets[1 - dead].id)
        assert seen is not None
        assert seen.spent is None


def test_a_shutdown_that_is_never_completed_goes_on_chain() -> None:
    for answered in (False, True):
        table = sit().open().propose(ANN).go_on()
        balances = table.ends[ANN].state.balances
        asker = table.holder()
        table.command(asker, Close())
        assert isinstance(decode(table.mail[0][1]), Shutdown)
        if answered:
            table.deliver()
            assert isinstance(decode(table.mail[0][1]), ShutdownDone)
        table.mail.clear()
        dead = 1 - asker
        if answered:
            # It completed the shutdown, kept it for itself, and can publish it at any time.
            table.chain.farm(5)
        settle(table, dead=(dead,))
        assert rewards(table) == balances
        end = table.ends[asker]
        if answered:
            assert end.news_of(ChannelClosed)
        else:
            assert broken_off(end).blame.rule == "CH-TIME-1"
            sound(table, dead=(dead,))


@pytest.mark.parametrize("asker", [ANN, BEN])
def test_a_shutdown_and_an_unroll_race(asker: int) -> None:
    """The asking side sees an unroll win, or a shutdown after it has gone on chain itself."""
    for unroll_wins in (False, True):
        table = sit().open().propose(ANN).go_on()
        if table.holder() != asker:
            table.ask(asker)
        balances = table.ends[ANN].state.balances
        table.command(asker, Close())
        if unroll_wins:
            publish_old(table, 1 - asker, received(table, 1 - asker)[-1])
            table.chain.farm()
        else:
            # The unroll does not reach the node at once; the other side completes.
            leaving = table.ends[asker].peer.handle(GoOnChain())
            unsent = [effect for effect in leaving if not isinstance(effect, Push)]
            table.driver.carry_out(asker, unsent)
        settle(table)
        assert rewards(table) == balances
        for end in table.ends:
            assert end.news_of(ChannelSettled) or end.news_of(ChannelClosed)


def test_a_confirmed_shutdown_can_be_undone_by_a_reorganisation() -> None:
    """It was completed after its asker had gone on chain; a deep reorganisation undoes it."""
    table = sit().open().propose(ANN).go_on()
    balances = table.ends[ANN].state.balances
    asker = table.holder()
    table.command(asker, Close())
    # The answer is completed, and kept from everybody for now.
    effects = table.ends[1 - asker].peer.handle(Received(table.take_mail()))
    (completed,) = (effect.bundle for effect in effects if isinstance(effect, Push))
    end = table.ends[asker]
    # The asker's unroll never reaches the node.
    leaving = end.peer.handle(GoOnChain())
    table.driver.carry_out(asker, [effect for effect in leaving if not isinstance(effect, Push)])
    assert table.chain.push(completed).benign
    for _ in range(1 + CONFIRMATIONS):
        farm(table, (1 - asker,))
    assert len(facts(end, ChannelClosed)) == 1
    assert end.peer.phase is Phase.CLOSED
    table.chain.reorganise(CONFIRMATIONS + 1, CONFIRMATIONS + 2, keep=False)
    farm(table, (1 - asker,))
    assert facts(end, ChannelClosed) == []
    settle(table, dead=(1 - asker,))
    assert rewards(table) == balances


def test_open_proposals_end_when_the_channel_goes_on_chain_or_is_closed() -> None:
    for close in (False, True):
        table = sit().open().propose(BEN, wish(), wish()).pump()
        if close:
            table.command(ANN, Close())
            table.pump()
        else:
            leave(table, ANN)
        table.farm(40)
        for end in table.ends:
            groups = [news.group.id for news in end.news if isinstance(news, Cancelled)]
            assert sorted(set(groups)) == sorted(groups) == [1]


def test_leaving_reports_the_reason_and_the_published_state() -> None:
    table = sit().open()
    table.command(ANN, GoOnChain("bored"))
    (news,) = table.ends[ANN].news_of(LeftForChain)
    assert news == LeftForChain("bored", 0)
    settle(table)
    assert isinstance(facts(table.ends[ANN], UnrollSeen)[0], UnrollSeen)
    # State 0 is the initiator's; the receiver preempts it with state 1, at the same balances.
    (counts,) = facts(table.ends[BEN], StateCounts)
    assert isinstance(counts, StateCounts)
    assert (counts.number, counts.preempted, counts.stale) == (1, True, False)
    assert [coin.amount for coin in counts.rewards if coin] == [BALANCE, BALANCE]
    for command in (GoOnChain(), Close(), Act(0, Action("call"))):
        with pytest.raises(UsageError):
            table.command(ANN, command)


def test_a_unilateral_close_needs_a_channel() -> None:
    table = sit().start()
    with pytest.raises(UsageError, match="not now"):
        table.command(ANN, GoOnChain())


def test_impossible_decisions_on_chain_are_refused() -> None:
    table = at_message(14)
    table.mail.clear()
    leave(table, ANN)
    ends = table.ends
    while not any(end.turns for end in ends):
        table.farm()
    index = next(i for i, end in enumerate(ends) if end.turns)
    for action in (Action("dance"), Action("bet", 10 * STAKE)):
        with pytest.raises(UsageError):
            table.command(index, Act(0, action))
    with pytest.raises(UsageError, match="waits for no decision"):
        table.command(index, Act(2, Action("call")))
    with pytest.raises(UsageError, match="waits for no decision"):
        table.command(1 - index, Act(0, Action("call")))
    settle(table)
    sound(table)


def test_a_fold_on_chain_makes_no_more_moves() -> None:
    table = at_message(16)
    table.mail.clear()
    leave(table, BEN)
    settle(table, fold, fold)
    sound(table)
    assert not any(name == "move" for end in table.ends for name, _, _ in end.pushed)


def test_a_share_of_nothing_is_reported_and_not_claimed() -> None:
    """California Poker: who does not answer loses all, and its coin lies there unclaimed."""
    from tests.channel.session.test_two_games import wish as any_wish

    table = sit().open().propose(ANN, any_wish("calpoker"))
    table.until(lambda: len(table.sent) >= 13)
    table.mail.clear()
    leave(table, ANN)
    dead = 1 - next(i for i, e in enumerate(table.ends) if e.state.games[0].mover == i)
    mover = 1 - dead
    peer = table.ends[dead].peer
    peer.state = replace(peer.state, phase=Phase.CLOSED)
    settle(table, fold, fold, dead=(dead,))
    end = table.ends[mover]
    news = settled(end)
    assert facts(end, Forfeited) or news.ours > 0
    assert news.ours + news.theirs == 2 * BALANCE
    assert rewards(table)[mover] == news.ours


def test_a_funding_that_vanishes_after_its_deadline_is_a_failed_opening() -> None:
    table = sit().open().propose(ANN)
    while not table.ends[BEN].state.groups:
        table.deliver()
    coin = table.channel.coin
    seen = table.chain.coin(coin.id)
    assert seen is not None
    back = table.chain.peak() - seen.born + 1
    deadline = table.ends[ANN].peer.state.opening.opened
    assert deadline is not None
    # Beyond what confirmations are for: nothing can be done, but that both notice.
    table.chain.reorganise(back, back + 20, keep=False)
    table.farm()
    for end in table.ends:
        assert end.peer.phase is Phase.FAILED
        assert end.news_of(OpeningFailed)
        ended = [news.reason for news in end.news if isinstance(news, Cancelled)]
        assert ended == ["the channel is not funded"]
    assert table.chain.coin(coin.id) is None


def test_a_funding_that_vanishes_before_its_deadline_is_sent_again() -> None:
    table = sit().open()
    seen = table.chain.coin(table.channel.coin.id)
    assert seen is not None
    back = table.chain.peak() - seen.born + 1
    table.chain.reorganise(back, back + 1, keep=False)
    table.farm(2)
    assert table.chain.coin(table.channel.coin.id) is not None
    assert [end.peer.phase for end in table.ends] == [Phase.PLAYING] * 2
    table.farm(CONFIRMATIONS)
    table.propose(ANN).go_on()
    assert sum(table.ends[ANN].state.balances) == 2 * BALANCE


def test_a_funding_that_comes_back_after_it_had_failed_is_unrolled() -> None:
    table = sit().open()
    opened = table.ends[ANN].peer.state.opening.opened
    assert opened is not None
    assert opened.bundle is not None
    seen = table.chain.coin(table.channel.coin.id)
    assert seen is not None
    back = table.chain.peak() - seen.born + 1
    table.chain.reorganise(back, back + 20, keep=False)
    table.farm()
    assert [end.peer.phase for end in table.ends] == [Phase.FAILED] * 2
    # The old blocks win again: below the deadline, where the bundle is still good.
    table.chain.reorganise(table.chain.peak() - opened.deadline + 5, 1, keep=True)
    assert table.chain.push(opened.bundle).benign
    table.farm()
    for end in table.ends:
        (news,) = end.news_of(LeftForChain)
        assert isinstance(news, LeftForChain)
        assert "came back" in news.reason
    settle(table)
    sound(table)
    assert rewards(table) == (BALANCE, BALANCE)


def test_a_funding_that_vanishes_during_a_dispute_is_sent_again() -> None:
    table = at_message(16)
    table.mail.clear()
    leave(table, ANN)
    seen = table.chain.coin(table.channel.coin.id)
    assert seen is not None
    back = table.chain.peak() - seen.born + 1
    table.chain.reorganise(back, back + 1, keep=False)
    settle(table)
    sound(table)
    assert rewards(table) == played()[1]


def closed(table: Table) -> bool:
    return all(end.peer.phase is Phase.CLOSED for end in table.ends)


@pytest.mark.parametrize("keep", [False, True])
def test_a_shutdown_that_a_reorganisation_took_away_is_sent_again(keep: bool) -> None:
    table = sit().open().propose(ANN).go_on()
    balances = table.ends[ANN].state.balances
    table.command(table.holder(), Close())
    table.pump().farm(1 + CONFIRMATIONS)
    assert closed(table)
    table.chain.reorganise(CONFIRMATIONS + 1, CONFIRMATIONS + 2, keep=keep)
    table.farm(CONFIRMATIONS + 2)
    assert closed(table)
    assert rewards(table) == balances
    if not keep:
        for end in table.ends:
            assert len(end.news_of(ChannelClosed)) == 2
            assert len(end.news_of(Undone)) == 1


def test_half_of_a_shutdown_is_half_again_once_the_other_sides_spend_is_taken_back() -> None:
    table = sit().open().propose(ANN).go_on()
    asker = table.holder()
    table.command(asker, Close())
    while table.ends[1 - asker].peer.phase is not Phase.COMPLETED:
        table.step()
    table.mail.clear()
    table.farm(1 + CONFIRMATIONS)
    assert closed(table)
    table.chain.reorganise(CONFIRMATIONS + 1, CONFIRMATIONS + 2, keep=False)
    table.farm(1)
    phases = [table.ends[side].peer.phase for side in (asker, 1 - asker)]
    assert phases == [Phase.CLOSING, Phase.COMPLETED]


def test_a_final_shutdown_is_undone_where_another_close_has_taken_its_place() -> None:
    table = sit().open().propose(ANN).go_on()
    signed = table.ends[BEN].play.newest
    table.command(table.holder(), Close())
    table.pump().farm(1 + CONFIRMATIONS)
    assert closed(table)
    endpoint = table.ends[BEN].peer.endpoint
    instead = publish(endpoint.channel, endpoint.secret_keys, signed)
    # No block that a side sees has the channel coin unspent again.
    back = CONFIRMATIONS + 1
    table.chain.reorganise(back, back + 1, keep=True, bundle=instead)
    table.farm()
    for end in table.ends:
        (close,) = end.news_of(ChannelClosed)
        assert isinstance(close, ChannelClosed)
        assert end.news_of(Undone) == [Undone(close)]
        assert end.peer.state.closed is None
        assert len(end.news_of(UnilateralClose)) == 1


def test_unsent_proposals_are_reported_when_play_ends() -> None:
    """On chain no games begin: each proposal ends once, sent or not."""
    table = sit().open()
    table.propose(BEN)
    table.mail.clear()
    wished = wish()
    table.command(BEN, ProposeGames((wished,)))
    assert table.ends[BEN].play.queue
    table.command(BEN, GoOnChain())
    end = table.ends[BEN]
    assert end.news_of(NotProposed) == [NotProposed((wished,), "the channel is on chain")]
    (cancelled,) = end.news_of(Cancelled)
    assert isinstance(cancelled, Cancelled)
    assert cancelled.mine
    for _ in range(3):
        table.farm()
    assert len(end.news_of(NotProposed)) == 1
