"""New connections: what is repeated, what is refused, and how an old copy of a store stops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    LeftForChain,
    StateCounts,
    UnknownGame,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    Close,
    Connected,
    GoOnChain,
    OldCopy,
    Received,
    Send,
    Watch,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.phases.resuming import last_numbers
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import Advisory, Request, Resume, Shutdown, decode
from tests.channel.on_chain import reward
from tests.channel.peer.hostile import kinds, quiet, refuse
from tests.channel.table import ANN, BEN, Table, call, sit


def playing() -> Table:
    """A table at which Ben has just moved in a game, and Ann has the potato."""
    table = sit().open().propose(ANN)
    return table.until(lambda: table.ends[ANN].state.number > 4 and table.ends[ANN].play.potato)


def numbers(table: Table, sender: int) -> Resume:
    """The last numbers of this side, which the other waits for."""
    table.handle(1 - sender, Connected())
    table.mail.clear()
    return last_numbers(table.ends[sender].play)


# --- what is refused ------------------------------------------------------------------------------


def changed_numbers(table: Table, sender: int) -> Iterator[tuple[str, Resume]]:
    true = numbers(table, sender)
    received, sent = true.received, true.sent
    end = table.ends[sender]
    own = sign_halves(table.channel, end.endpoint.secret_keys, end.state)
    for change in ({"sent": received}, {"sent": sent + 2 * (received - sent) + 3}):
        yield "CH-RESUME-1", replace(true, **change)
    yield "CH-RESUME-1", replace(true, received=sent, sent=received)
    for n in (2, 1000):
        yield "CH-RESUME-2", replace(true, received=received + n, sent=sent + n)
    yield "CH-RESUME-2", replace(true, conditions=bytes(32))
    yield "CH-RESUME-2", replace(true, channel_half=own[0])
    yield "CH-RESUME-2", replace(true, unroll_half=own[1])


@pytest.mark.parametrize("sender", [ANN, BEN])
def test_last_numbers_without_proof_are_a_violation_and_freeze_nobody(sender: int) -> None:
    table = playing()
    for rule, message in changed_numbers(table, sender):
        victim = table.fork()
        refuse(victim, 1 - sender, message, rule)
        assert not victim.ends[1 - sender].news_of(OldCopy)


def test_last_numbers_out_of_their_place_are_ignored() -> None:
    """Those of no new connection, and what comes before them on a new one."""
    table = playing()
    for end, number in zip(table.ends, (BEN, ANN), strict=True):
        before = end.peer.state
        message = replace(last_numbers(table.ends[number].play), sent=77)
        assert quiet(table.receive(1 - number, message))
        assert end.peer.state == before
    true = numbers(table, ANN)
    before = table.ends[BEN].peer.state
    for early in (Request(), Shutdown(bytes(96)), Advisory(0, b"")):
        assert quiet(table.receive(BEN, early))
        assert table.ends[BEN].peer.state == before
    table.receive(BEN, true)
    assert not table.ends[BEN].peer.state.resuming
    assert quiet(table.receive(BEN, true))


def test_nothing_is_signed_before_the_other_sides_numbers_are_here() -> None:
    table = playing()
    table.go_on()
    holder = table.holder()
    true = numbers(table, 1 - holder)
    assert kinds(table.command(holder, Close())) == []
    effects = table.receive(holder, true)
    assert [type(decode(one.message)).__name__ for one in effects if isinstance(one, Send)] == [
        "Shutdown"
    ]


# --- old copies ----------------------------------------------------------------------------------


def restored(table: Table, side: int, peer: Peer) -> None:
    """Put an older copy in the place of a peer, and connect the two sides again."""
    table.ends[side].peer = peer
    table.driver.reconnect()
    table.pump()


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("live", [True, False], ids=("in a game", "after it"))
def test_an_old_copy_stops_and_gets_what_the_other_sides_close_pays(side: int, live: bool) -> None:
    table = sit().open()
    end, other = table.ends[side], table.ends[1 - side]
    old = Peer(end.peer.config, end.peer.state)
    table.propose(ANN).until(lambda: other.state.number > (6 if live else 9) and not table.mail)
    if not live:
        table.go_on()
    signed = table.ends[1 - side].play.newest.state
    said = len(table.sent)
    restored(table, side, old)
    (news,) = end.news_of(OldCopy)
    assert news == OldCopy(signed.number, old.play.state.number)
    assert end.peer.phase is Phase.OUTDATED
    assert other.news_of(LeftForChain)
    assert not other.news_of(BrokenOff)
    after = [blob for sender, blob in table.sent[said:] if sender == side]
    assert [type(decode(blob)) for blob in after] == [Resume]
    for command in (Close(), GoOnChain()):
        with pytest.raises(UsageError, match="is an old copy"):
            table.command(side, command)
    end.pushed.clear()
    table.farm(60)
    assert len(end.news_of(ChannelSettled)) == 1
    assert len(end.news_of(UnknownGame)) == len(signed.games)
    assert not end.pushed
    assert reward(table, side) >= signed.balances[side]


def test_an_old_copy_that_forgot_its_shutdown_watches_for_what_that_pays() -> None:
    table = sit().open()
    side = table.holder()
    old = Peer(table.ends[side].peer.config, table.ends[side].peer.state)
    table.command(side, Close())
    asked = table.take_mail()
    (done,) = [
        one for one in table.ends[1 - side].peer.handle(Received(asked)) if isinstance(one, Send)
    ]
    effects = old.handle(Received(done.message))
    assert old.phase is Phase.OUTDATED
    forgotten = table.ends[side].peer.state.shutdown
    assert forgotten is not None
    assert {Watch(coin) for coin in forgotten.rewards()} <= set(effects)


def test_an_old_copy_with_a_game_that_has_not_gone_on_plays_it_on_chain() -> None:
    """The newer state differs by a proposal only, so the game's coin is known."""
    table = playing()
    end, other = table.ends[ANN], table.ends[BEN]
    old = Peer(end.peer.config, end.peer.state)
    game = end.state.games[0]
    table.ask(BEN)
    table.ask(ANN)
    assert other.state.game(game.id) == game
    restored(table, ANN, old)
    assert end.peer.phase is Phase.OUTDATED
    end.turns.clear()
    for _ in range(80):
        table.farm()
        table.go_on(call, call)
    assert not end.news_of(UnknownGame)
    (settled,) = end.news_of(ChannelSettled)
    assert isinstance(settled, ChannelSettled)
    assert reward(table, ANN) == settled.ours > end.state.balances[ANN]


def test_an_old_copy_that_forgot_its_half_of_the_shutdown_stops() -> None:
    table = sit().open()
    holder = table.holder()
    end = table.ends[holder]
    old = Peer(end.peer.config, end.peer.state)
    table.command(holder, Close())
    table.pump()
    restored(table, holder, old)
    assert end.peer.phase is Phase.OUTDATED
    table.farm(8)
    assert [one.peer.phase for one in table.ends] == [Phase.CLOSED] * 2
    assert reward(table, holder) == end.state.balances[holder]


# --- CH-RESUME-3 ---------------------------------------------------------------------------------


def stopped(side: int) -> Table:
    """A table at which this side runs on an old copy, of which the other side has not heard."""
    table = sit().open()
    other = table.ends[1 - side]
    old = Peer(table.ends[side].peer.config, table.ends[side].peer.state)
    table.propose(ANN).until(lambda: other.state.number > 9 and not table.mail).go_on()
    numbers = last_numbers(other.play)
    table.ends[side].peer = old
    table.handle(side, Connected())
    table.receive(side, numbers)
    assert old.phase is Phase.OUTDATED
    table.mail.clear()
    return table


@pytest.mark.parametrize("side", [ANN, BEN])
def test_an_old_copy_answers_every_new_connection_until_the_other_side_has_heard_it(
    side: int,
) -> None:
    table = stopped(side)
    end = table.ends[side]
    known = end.state.number
    for _ in range(3):
        (numbers,) = [
            decode(one.message) for one in table.handle(side, Connected()) if isinstance(one, Send)
        ]
        assert isinstance(numbers, Resume)
        assert max(numbers.received, numbers.sent) == known
        table.mail.clear()  # lost with the connection
        for message in (numbers, Request(), Advisory(0, b""), Shutdown(bytes(96))):
            assert quiet(table.receive(side, message))
        table.farm()
    assert not table.ends[1 - side].news_of(LeftForChain)
    table.driver.reconnect()
    table.pump()
    assert table.ends[1 - side].news_of(LeftForChain)
    assert [name for name, *_ in end.pushed if name != "funding"] == []


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("answered", [False, True], ids=("let stand", "preempted"))
def test_an_old_copy_is_published_if_its_player_wants_that(side: int, answered: bool) -> None:
    table = stopped(side)
    end, other = table.ends[side], table.ends[1 - side]
    newest, published = other.play.newest.state, end.play.newest.state
    table.command(side, GoOnChain("it never closes", old_copy=True))
    assert end.news_of(LeftForChain) == [LeftForChain("it never closes", published.number)]
    with pytest.raises(UsageError, match="not now"):
        table.command(side, GoOnChain())
    if not answered:  # a hostile other side picks the older state
        table.driver.peers[1 - side].watched.clear()
    table.farm(60)
    assert end.news_of(ChannelSettled)
    counts = newest if answered else published
    (news,) = end.news_of(StateCounts)
    assert isinstance(news, StateCounts)
    assert news.number == counts.number
    games = sum(game.coin.amount for game in counts.games)
    assert counts.balances[side] <= reward(table, side) <= counts.balances[side] + games
    assert answered is any(name == "preempt" for name, *_ in other.pushed)


def test_who_is_on_chain_with_its_newest_state_has_nothing_to_publish() -> None:
    table = sit().open()
    table.command(ANN, GoOnChain())
    table.farm()
    with pytest.raises(UsageError, match="not now"):
        table.command(ANN, GoOnChain(old_copy=True))
