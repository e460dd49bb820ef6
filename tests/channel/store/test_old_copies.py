"""A durable peer that learns that its store is an old copy knows it for good (CH-RESUME-3)."""

from __future__ import annotations

from copy import deepcopy

import pytest

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import ChannelSettled
from channelsim.channel.peer.interface import Connected, GoOnChain, Send
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.phases.resuming import last_numbers
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from tests.channel.on_chain import reward
from tests.channel.table import ANN, BEN, Table, sit


def restarted(table: Table, store: MemoryStore) -> None:
    """Start Ben again from this store; he watches what his store says."""
    driven = table.ends[BEN].driven
    driven.actor = DurablePeer(Peer(table.ends[BEN].peer.config), store)
    driven.watched.clear()
    table.driver.carry_out(BEN, driven.actor.start(table.chain.peak()))


@pytest.mark.parametrize("published", [False, True])
def test_a_restart_knows_that_it_is_an_old_copy_and_what_its_player_wanted(
    published: bool,
) -> None:
    table, store = sit(), MemoryStore()
    end, other = table.ends[BEN], table.ends[ANN]
    end.driven.actor = DurablePeer(end.peer, store)
    table.open()
    copy = deepcopy(store)
    table.propose(ANN).until(lambda: other.state.number > 9 and not table.mail).go_on()
    other.driven.watched.clear()  # it lets an old state stand
    restarted(table, copy)
    table.handle(BEN, Block(table.chain.peak()))
    table.handle(BEN, Connected())
    table.receive(BEN, last_numbers(other.play))
    assert end.peer.phase is Phase.OUTDATED
    if published:
        table.command(BEN, GoOnChain("it never closes", old_copy=True))
    for _ in range(3):
        table.mail.clear()
        restarted(table, copy)
        assert end.peer.state.shown == other.play.newest.state.number
        said = [one for one in table.handle(BEN, Connected()) if isinstance(one, Send)]
        assert len(said) == (not published)
        table.farm()
    end.pushed.clear()
    table.farm(60)
    assert bool(end.pushed) is published
    assert bool(end.news_of(ChannelSettled)) is published
    paid = end.play.newest.state.balances[BEN] if published else 0
    assert reward(table, BEN) == paid
