"""Own limits of states and bytes: near them the channel is closed, and no batch is past them."""

from __future__ import annotations

import msgspec
import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import LeftForChain
from channelsim.channel.peer.interface import (
    AcceptGames,
    GameSettled,
    NearLimit,
    NotProposed,
    ProposeGames,
)
from channelsim.channel.peer.limits import Limits, stored_bytes
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.bounds import LEAST_BYTES, LEAST_STATES, MOST_BYTES, MOST_STATES
from channelsim.channel.protocol.messages import Batch, decode
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.watched_peer import watched_state
from channelsim.channel.system.input_files import LINES
from channelsim.channel.watch.watch_data import encoded
from tests.channel.disputes import with_config
from tests.channel.peer.test_closing import bounce
from tests.channel.table import ANN, BEN, STAKE, Table, sit, wish

MB = 1 << 20


def limited(table: Table, index: int, states: int, size: int = MB) -> Table:
    with_config(table, index, limits=Limits(states, size, demonstration=True))
    return table


def test_near_its_limit_a_side_closes_the_channel() -> None:
    table = limited(sit().open(), BEN, 20)
    bounce(table, ANN)
    ben = table.ends[BEN]
    assert ben.news_of(NearLimit) == [NearLimit("20 states")]
    assert ben.state.number == 19
    assert ben.peer.phase is Phase.CLOSING


def test_near_its_limit_a_side_begins_no_games_and_plays_those_that_are_live() -> None:
    table = limited(sit().open(), BEN, 10).propose(ANN)
    table.until(lambda: bool(table.ends[ANN].state.games))
    table.until(lambda: table.ends[BEN].play.closing)
    assert table.ends[BEN].state.games
    with pytest.raises(UsageError, match="is being closed"):
        table.command(BEN, ProposeGames((wish(),)))
    limited(table, BEN, 100)
    table.go_on()
    assert [len(end.news_of(GameSettled)) for end in table.ends] == [1, 1]
    assert [end.peer.phase for end in table.ends] == [Phase.COMPLETED] * 2


def test_what_waits_to_be_sent_near_the_limit_is_dropped_and_reported() -> None:
    table = limited(sit().open(), ANN, 100).propose(ANN)
    limited(table, ANN, 2).pump()
    (news,) = table.ends[ANN].news_of(NotProposed)
    assert isinstance(news, NotProposed)
    assert table.ends[ANN].news_of(NearLimit)


@pytest.mark.parametrize(
    ("states", "size", "limit"), [(8, MB, "8 states"), (99, 6000, "6,000 byt")]
)
def test_no_batch_is_sent_past_a_limit(states: int, size: int, limit: str) -> None:
    table = limited(sit().open(), BEN, states, size).propose(ANN)
    table.go_on()
    ben = table.ends[BEN]
    (news,) = ben.news_of(LeftForChain)
    assert isinstance(news, LeftForChain)
    assert limit in news.reason
    assert news.published == ben.play.newest.state.number
    assert ben.play.newest.state.number <= states + 1
    assert ben.play.stored_bytes <= size + 2000
    table.farm(60)
    assert ben.peer.phase is Phase.CLOSED


def test_the_bytes_are_counted_by_the_batches_of_all_states() -> None:
    table = sit().open().propose(ANN).go_on()
    messages = {blob: decode(blob) for _, blob in table.sent}
    batches = {one.number: blob for blob, one in messages.items() if isinstance(one, Batch)}
    for end in table.ends:
        links = [*end.play.history]
        before: dict[int, ChannelState] = {
            link.state.number: link.older.state for link in links if link.older is not None
        }
        sizes = [
            stored_bytes(batches[one.state.number], one.state.games, before[one.state.number].games)
            for one in links
            if one.state.number > 1
        ]
        assert end.play.stored_bytes == sum(sizes)


def test_a_restart_counts_on() -> None:
    for snapshots in (1, 1000):
        table = sit().open()
        peer = table.ends[ANN].peer
        store = MemoryStore()
        fresh = sit()
        durable = DurablePeer(Peer(fresh.ends[ANN].peer.config), store, snapshots)
        fresh.ends[ANN].driven.actor = durable
        fresh.open().propose(ANN).go_on()
        kept = durable.peer.play.stored_bytes
        assert kept > 0
        again = DurablePeer(Peer(peer.config), store)
        assert again.peer.play.stored_bytes == kept


def test_the_watchers_file_grows_by_less_than_is_counted() -> None:
    table = sit(contributions=(200 * STAKE, 200 * STAKE)).open()
    table.propose(ANN, *[wish()] * 100)
    table.pump()
    table.command(BEN, AcceptGames(0))
    table.pump()
    state = table.ends[ANN].state
    assert len(state.games) == 100
    largest = msgspec.structs.replace(state, number=MOST_STATES)
    for one in (largest, msgspec.structs.replace(largest, games=())):
        line = encoded(watched_state(table.channel, _with_all_money(table, one)))
        assert len(line) + 1 < stored_bytes(b"", one.games, one.games)


def _with_all_money(table: Table, state: ChannelState) -> ChannelState:
    """The state as it is: the amounts add up to the channel's coin."""
    rest = table.channel.coin.amount - sum(game.coin.amount for game in state.games)
    return msgspec.structs.replace(state, balances=(rest - 1, 1))


def test_a_watcher_reads_the_largest_file_that_the_limits_allow() -> None:
    assert MOST_BYTES + 16 * MB <= LINES
    assert Limits().bytes <= MOST_BYTES
    assert Limits().states >= LEAST_STATES == 10_000


@pytest.mark.parametrize(
    "limits",
    [
        (LEAST_STATES - 1, LEAST_BYTES),
        (MOST_STATES + 1, LEAST_BYTES),
        (LEAST_STATES, LEAST_BYTES - 1),
        (LEAST_STATES, MOST_BYTES + 1),
    ],
)
def test_limits_out_of_bounds_are_refused(limits: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="a limit of"):
        Limits(*limits)
    Limits(LEAST_STATES, LEAST_BYTES)
    Limits(MOST_STATES, MOST_BYTES)
