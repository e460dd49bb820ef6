"""Watchers that pay fees: what they have, push and are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.watch.pusher import Notice, Offered, Pusher
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from channelsim.clsp.values import int_to_atom, to_list
from tests.channel.disputes import publish_old, received
from tests.channel.table import BEN
from tests.channel.watch.test_watch import Watched, in_a_hand

KEY = wallet_key(b"tower", "fees")
ADDRESS = address_of(KEY)
MOST = 100 * LEAST_RAISE
COIN = 2 * MOST
WAIT = 2


def money(chain: SimulatedChain, *amounts: int, key: PrivateKey = KEY) -> list[Coin]:
    """Coins of exactly these amounts at a key's address."""
    address = address_of(key)
    coin = chain.give(address, sum(amounts))
    outputs = [(address, amount) for amount in amounts]
    made = [condition(51, *(place, int_to_atom(amount))) for place, amount in outputs]
    rest = condition(51, bytes(32), int_to_atom(coin.amount - sum(amounts)))
    spend = signed_spend(key, coin, to_list([*made, rest]), chain.agg_sig_data())
    assert chain.push(spend).answer is Answer.ACCEPTED
    chain.farm()
    return [Coin(coin.id, *output) for output in outputs]


def left(chain: SimulatedChain) -> int:
    """The money at the address of the fee key."""
    return sum(seen.coin.amount for seen in chain.coins_at(ADDRESS))


def without_room(chain: SimulatedChain, blocks: int = 1) -> None:
    """Blocks that have no room for what is pending."""
    for _ in range(blocks):
        chain.ledger.add_empty(1)
        chain.mempool.add_block(chain.ledger.tip, ())


def drop(chain: SimulatedChain, bundle: Bundle) -> None:
    """Let the node take these bytes no more, as after it has evicted them."""
    chain.mempool.remember(name_of_bundle(bundle))


@dataclass
class Tower:
    """A watcher's process with fees, and what it was answered."""

    ours: Watched
    most: int | None = MOST
    keys: tuple[PrivateKey, ...] = (KEY,)
    pusher: Pusher = field(init=False)
    chain: SimulatedChain = field(init=False)
    notices: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chain = self.ours.table.chain
        self.restart()

    def restart(self) -> None:
        """Begin anew, with nothing but the files."""
        self.data = self.ours.copied()
        self.pusher = Pusher(self.data.channel, self.keys, self.most)

    def look(self, chain: SimulatedChain | None = None) -> Offered | None:
        watcher = Watcher(self.data, WAIT)
        offered = self.pusher.push(chain or self.chain, watcher, watcher.look(self.chain))
        self.notices += [one for one in self.pusher.notices if one not in self.notices]
        return offered

    def sight(self) -> Sight:
        return Watcher(self.data, WAIT).look(self.chain)

    def pending(self) -> list[PendingBundle]:
        spend = self.sight().spend
        assert spend is not None
        return self.chain.pending(spend.spends[0].coin.id)

    def fee(self) -> int:
        """The highest fee of the pending bundles with our spend.

        There are several of a timeout form, which needs no signature.
        """
        return max(pending.fee for pending in self.pending())


def stale(folder: Path, *, most: int | None = MOST, coins: Sequence[int] = (COIN,)) -> Tower:
    """A tower, whose watcher has to preempt from now on; the owner's peer is dead."""
    ours = in_a_hand(folder, messages=12)
    if coins:
        money(ours.table.chain, *coins)
    return preempting(Tower(ours, most))


def preempting(tower: Tower) -> Tower:
    """Let the counterparty publish a stale state, and wait until a preemption is due."""
    table = tower.ours.table
    table.mail.clear()
    publish_old(table, BEN, received(table, BEN)[0])
    table.chain.farm(1 + WAIT)
    assert (tower.sight().step, tower.sight().peak) == (Step.STALE, tower.sight().due)
    return tower
