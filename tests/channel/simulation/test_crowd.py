"""A crowd fills blocks and the mempool at its rate, up to the border of the mempool's rules."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.constants import BLOCK_COST, POOL_BLOCKS, constants_of
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE, Limits
from channelsim.channel.chain.padding import BARE_COST, SLACK, padded_spend
from channelsim.channel.chain.refusals import FEE_TOO_CLOSE_TO_ZERO, FEE_TOO_LOW
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.chain.validation import Validator, name_of_bundle
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.crowd import CrowdedChain, CrowdSize

RATE = 10
KEY = wallet_key(b"someone", "wallet")
AMOUNT = 100_000_000_000


@dataclass
class Someone:
    """Someone with a coin on a crowded chain."""

    node: SimulatedChain
    chain: CrowdedChain

    def __post_init__(self) -> None:
        (seen,) = self.chain.coins_at(address_of(KEY))
        self.coin = seen.coin

    def spend(self, fee: int, cost: int = 0) -> Bundle:
        return padded_spend(KEY, self.coin, fee, cost, self.chain.agg_sig_data())

    def at_rate(self, rate: float) -> Bundle:
        return self.spend(int(rate * cost_of(self.spend(LEAST_RAISE))))

    def is_in(self) -> bool:
        seen = self.chain.coin(self.coin.id)
        return seen is not None and seen.spent is not None


def cost_of(bundle: Bundle) -> int:
    """The cost of a bundle, by the consensus library."""
    data = SimulatedChain(1).agg_sig_data()
    constants = constants_of(data, BLOCK_COST, POOL_BLOCKS * BLOCK_COST)
    return Validator(constants).validate(name_of_bundle(bundle), bundle).cost


def crowded(pending: int | None, stays: int = 12) -> Someone:
    node = SimulatedChain(1)
    node.give(address_of(KEY), AMOUNT)
    chain = CrowdedChain(node, b"crowd", CrowdSize(RATE, stays, pending))
    chain.begin()
    chain.farm()
    return Someone(node, chain)


@pytest.mark.parametrize("cost", [10**7, 10**8, 10**9, BLOCK_COST // 2])
@pytest.mark.parametrize("amount", [AMOUNT, (1 << 63) - 1])
def test_a_padded_spend_costs_what_is_wanted(cost: int, amount: int) -> None:
    someone = crowded(0)
    coin = Coin(bytes(32), address_of(KEY), amount)
    bundle = padded_spend(KEY, coin, LEAST_RAISE, cost, someone.chain.agg_sig_data())
    assert cost - SLACK <= cost_of(bundle) <= cost


@pytest.mark.parametrize("pending", [2, None])
def test_every_block_is_full_at_the_rate(pending: int | None) -> None:
    someone = crowded(pending)
    for _ in range(8):
        someone.chain.farm()
        block = someone.node.ledger.block(someone.node.peak())
        assert block is not None
        assert sum(item.cost for item in block.items) > BLOCK_COST - 3 * SLACK
        assert all(RATE * 0.9999 < item.rate <= RATE for item in block.items)


def test_a_full_mempool_takes_nothing_below_the_rate() -> None:
    someone = crowded(None)
    assert Limits().pool_cost - someone.node.mempool.cost < cost_of(someone.spend(0))
    refused = someone.chain.push(someone.spend(0))
    assert (refused.answer, refused.error) == (Answer.REFUSED, FEE_TOO_CLOSE_TO_ZERO)
    refused = someone.chain.push(someone.at_rate(RATE * 0.99))
    assert (refused.answer, refused.error) == (Answer.REFUSED, FEE_TOO_LOW)


@pytest.mark.parametrize("rate", [0, RATE * 0.99])
def test_full_blocks_keep_out_what_pays_less_until_the_crowd_goes(rate: float) -> None:
    someone = crowded(2)
    assert someone.chain.push(someone.at_rate(rate)).answer is Answer.ACCEPTED
    someone.chain.farm(11)
    assert not someone.is_in()
    someone.chain.farm(3)
    assert someone.is_in()


@pytest.mark.parametrize("pending", [2, None])
def test_a_fifth_more_is_in_the_next_block(pending: int | None) -> None:
    someone = crowded(pending)
    assert someone.chain.push(someone.at_rate(RATE * 1.2)).answer is Answer.ACCEPTED
    someone.chain.farm()
    assert someone.is_in()


@pytest.mark.long
def test_evicted_bundles_of_the_crowd_come_again() -> None:
    someone = crowded(None, stays=40)
    for _ in range(35):
        # Each of them takes the place of a bundle of the crowd.
        (seen,) = someone.chain.coins_at(address_of(KEY))
        someone.coin = seen.coin
        assert someone.chain.push(someone.at_rate(RATE * 1.2)).answer is Answer.ACCEPTED
        someone.chain.farm()
        assert someone.is_in()
        full = Limits().pool_cost - someone.node.mempool.cost
        assert full < BARE_COST


def test_the_same_seed_makes_the_same_crowd() -> None:
    first, second = crowded(None), crowded(None)
    for someone in (first, second):
        someone.chain.farm(5)
    names = [[item.name for item in one.node.mempool.items()] for one in (first, second)]
    assert names[0] == names[1]
    assert names[0]


@pytest.mark.parametrize("keep", [False, True])
def test_a_crowd_survives_a_reorganisation(keep: bool) -> None:
    someone = crowded(2)
    someone.chain.farm(4)
    someone.chain.reorganise(3, 4, keep=keep)
    someone.chain.farm(2)
    assert someone.chain.push(someone.spend(0)).answer is Answer.ACCEPTED
    someone.chain.farm(2)
    assert not someone.is_in()
