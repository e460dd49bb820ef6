"""The node calls of each look at the chain do not depend on how long a channel has lived."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from channelsim.channel.chain import interface
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Coins
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import Push, Watch
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.half_signed import unroll_coin
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.watch_data import read_watch_data
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from scripts.tools.bench.hidden_look import oldest_state, report_tip
from scripts.tools.bench.metered_node import MeteredNode, metered
from tests.channel.disputes import with_config
from tests.channel.session.spectator import Spectator
from tests.channel.table import ANN, BEN, Table, sit

FEW, MANY = 10, 60

MOST_BLOCKS = 80


@dataclass
class Victim:
    """Ann's peer with its store and watch data, at a table where a hand has begun."""

    table: Table
    store: MemoryStore
    folder: Path
    actor: WatchedPeer
    watched: list[Coin]

    @property
    def peer(self) -> Peer:
        return self.actor.durable.peer

    def restart(self) -> None:
        """End the process, and start another one."""
        config = self.peer.config
        self.actor.close()
        self.actor = WatchedPeer(DurablePeer(Peer(config), self.store), self.folder)
        effects = self.actor.start(0)
        self.watched = [one.coin for one in effects if isinstance(one, Watch)]

    def watcher(self) -> Watcher:
        return Watcher(read_watch_data(self.folder), 100)


def sat(folder: Path, states: int) -> Victim:
    """A channel of so many states, most of them from empty exchanges of the potato."""
    table = sit("looks")
    end = table.ends[ANN]
    key = wallet_key(b"looks", "fees")
    with_config(
        table, ANN, fees=Fees(Wallet(key, table.chain.give(address_of(key), 10**12)), 10**9, 10**11)
    )
    store = MemoryStore()
    actor = WatchedPeer(DurablePeer(end.peer, store), folder)
    end.driven.actor = actor
    table.open()
    while end.state.number < states:
        table.ask(1 - table.holder())
    table.propose(table.holder())
    for _ in range(6):
        table.step()
    assert end.state.games
    table.mail.clear()
    return Victim(table, store, folder, actor, [*end.watched])


@dataclass
class Looks:
    """The node calls of every look, by Ann's peer and by her watcher."""

    of_peer: list[int]
    of_watcher: list[int]
    last: Sight


def looks(victim: Victim, meter: MeteredNode, chain: RpcChain) -> Looks:
    """Let Ben publish his oldest state and be silent; look at every block, to the payout.

    The node never gives the solutions of the channel coin, of the unroll coin, and of the coin
    that pays Ann's fees. Ann's process ends every few blocks.
    """
    node, of_peer, of_watcher = victim.table.chain, list[int](), list[int]()
    found = Looks(of_peer, of_watcher, Sight(Step.ABSENT, 0))

    def counted(calls: list[int]) -> None:
        calls.append(meter.calls.total())
        meter.reset()

    stale = oldest_state(victim.table.ends[BEN].peer)
    fees = victim.peer.config.fees
    assert fees is not None
    meter.hidden |= {victim.table.channel.coin.id, fees.wallet.coin.id}
    meter.reset()
    for number in range(MOST_BLOCKS):
        if number % 5 == 4:
            victim.restart()
        effects = report_tip(victim.actor, chain, victim.watched)
        counted(of_peer)
        found.last = victim.watcher().look(chain)
        counted(of_watcher)
        if victim.peer.phase is Phase.CLOSED:
            return found
        for push in [one for one in effects if isinstance(one, Push)]:
            meter.hidden |= {one.coin.id for one in push.bundle.spends if push.name == "preempt"}
            if number > 2:
                # The first blocks show it waiting, as when blocks are full.
                node.push(push.bundle)
        if number == 0:
            node.push(stale)
        node.farm()
    raise AssertionError("the channel does not end")


def test_a_look_costs_the_same_calls_however_many_states_there_are(tmp_path: Path) -> None:
    """In play, in a dispute whose solutions the node hides, after restarts, and by a watcher."""
    counts = []
    for states in (FEW, MANY):
        victim = sat(tmp_path / f"{states}", states)
        node = victim.table.chain
        with node.served() as url, metered(url) as meter, RpcChain(meter.url) as chain:
            found = looks(victim, meter, chain)
        newest = victim.peer.play.newest.state.number
        assert newest >= states
        assert (found.last.step, found.last.state) == (Step.PAID, newest)
        counts.append((found.of_peer, found.of_watcher))
        victim.actor.close()
    few, many = counts
    assert few == many
    assert max(few[0]) < 70, "a coin that is spent takes three calls, and is looked at again"
    assert max(few[1]) < 8


# --- with a slow node --------------------------------------------------------------------------


@pytest.mark.long
def test_a_hidden_state_is_preempted_in_time_through_a_node_of_300_ms(tmp_path: Path) -> None:
    """After thousands of states, with a block every three seconds, much faster than the chain's."""
    victim = sat(tmp_path, 4000)
    table, node = victim.table, victim.table.chain
    channel = table.channel

    async def preempted(runner: PeerRunner) -> int:
        """The blocks until the stale unroll coin is spent."""
        running = asyncio.ensure_future(runner.run())
        state = victim.peer.play.history.numbered(1)
        assert state is not None
        coin = unroll_coin(channel, state)
        node.push(oldest_state(table.ends[BEN].peer))
        try:
            for blocks in range(MOST_BLOCKS):
                node.farm()
                await asyncio.sleep(3.0)
                assert not running.done()
                seen = node.coin(coin.id)
                if seen is not None and seen.spent is not None:
                    return blocks
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        raise AssertionError("it is never preempted")

    with ExitStack() as stack:
        meter = stack.enter_context(metered(stack.enter_context(node.served())))
        chain = stack.enter_context(RpcChain(meter.url))
        meter.hidden.add(channel.coin.id)
        meter.delay = 0.3
        victim.restart()
        decks = stack.enter_context(closing(DeckThreads()))
        runner = PeerRunner(victim.peer, victim.actor, chain, Spectator(), decks)
        blocks = asyncio.run(preempted(runner))
    assert blocks < channel.unroll_timeout / 2


def test_children_are_as_of_the_tip_and_do_not_replace_what_is_known() -> None:
    parent, *children = (Coin(bytes(32), bytes([number]) * 32, 1) for number in range(4))
    known, later, other = children
    hidden, told = CoinSeen(parent, 2, 5), CoinSeen(known, 5, 6, b"solution")
    born = [CoinSeen(known, 5, 6), CoinSeen(later, 5, 9), CoinSeen(other, 7, None)]
    chain = cast(Coins, SimpleNamespace(children=lambda coin_id: born))
    found = interface.with_children(chain, 8, (hidden, told))
    assert found == (hidden, told, CoinSeen(later, 5, None))
