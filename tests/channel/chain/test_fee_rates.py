"""The fee rate that nodes ask: from their mempools, and from the answers of their RPC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, condition
from channelsim.channel.chain.constants import LEAST_BLOCK_COST
from channelsim.channel.chain.fee_rates import MOST_RATE, SPEND_COST, PoolUse, asked_rate
from channelsim.channel.chain.full_node import NodeError, RpcChain
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool import LEAST_RATE
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.lab.node.node_wallet import NodeWallet
from tests.channel.chain.mempool_sequences import REMARK
from tests.channel.chain.test_chain_interface import ANYONE, NOWHERE, free, pay
from tests.channel.chain.test_rpc import HASTY, always, node, success

SMALL = NodeSettings(block_cost=LEAST_BLOCK_COST, pool_cost=6 * LEAST_BLOCK_COST)
AMOUNT = 10**10
PAD = 4_000
"""Bytes that make a bundle cost about 50,000,000: four fit into a block, and 24 into the pool."""


def bundles(chain: SimulatedChain, count: int, rate: int) -> Iterator[Bundle]:
    """Padded bundles that pay at least this rate."""
    coins = NodeWallet(chain, b"rates").coins(
        [(ANYONE.hash, AMOUNT + number) for number in range(count)]
    )
    for coin in coins:
        yield padded(coin, 60_000_000 * rate)


def padded(coin: Coin, fee: int) -> Bundle:
    return free(coin, pay(NOWHERE, coin.amount - fee), condition(REMARK, b"\x55" * PAD))


@pytest.mark.parametrize("rate", [0, 3, 10])
def test_a_node_asks_alike_in_process_and_over_rpc_however_full_it_is(rate: int) -> None:
    chain = SimulatedChain(1, SMALL)
    rates = []
    with chain.served() as url, RpcChain(url) as over:
        assert (chain.fee_rate(), over.fee_rate()) == (0, 0)
        for bundle in bundles(chain, 30, rate):
            taken = chain.push(bundle)
            rates.append(chain.fee_rate())
            assert over.fee_rate() == rates[-1]
            if taken.answer is not Answer.ACCEPTED:
                break
        assert taken.error == (
            "INVALID_FEE_LOW_FEE" if rate > 3 else "INVALID_FEE_TOO_CLOSE_TO_ZERO"
        )
    assert rates[0] == 0, "a block has room for the first ones"
    assert rates == sorted(rates)
    # A bundle that pays what is asked is taken where this one was refused, and mined next.
    asked = max(rates)
    assert asked >= max(LEAST_RATE, rate + 1)
    (coin,) = [spend.coin for spend in bundle.spends]
    better = padded(coin, 60_000_000 * asked)
    assert chain.push(better).answer is Answer.ACCEPTED
    chain.farm()
    seen = chain.coin(coin.id)
    assert seen is not None
    assert seen.spent == chain.peak()


# --- answers of a node --------------------------------------------------------------------------

ROOM = 20 * SPEND_COST


def estimate(**changes: object) -> dict[str, Any]:
    """An answer of the genuine node, as far as it is read."""
    return {
        "estimates": [0],
        "target_times": [60],
        "current_fee_rate": 0.0,
        "mempool_size": 0,
        "mempool_max_size": ROOM,
        "mempool_fees": 0,
        "blockchain_state": {"mempool_min_fees": {"cost_5000000": 0}},
        **changes,
    }


FULL = {"mempool_size": ROOM - SPEND_COST + 1}

ANSWERS: list[tuple[dict[str, Any], int]] = [
    ({}, 0),
    ({"estimates": [1]}, 1),
    ({"estimates": [3 * SPEND_COST]}, 3),
    ({"estimates": [3 * SPEND_COST + 1]}, 4),
    ({"estimates": [3 * SPEND_COST], "current_fee_rate": 7}, 7),
    ({"estimates": [9 * SPEND_COST], "current_fee_rate": 6.5}, 9),
    ({"current_fee_rate": 0.001}, 1),
    ({"current_fee_rate": 1e12}, MOST_RATE),
    ({"estimates": [(1 << 64) - 1]}, MOST_RATE),
    ({"mempool_size": ROOM - SPEND_COST}, 1),
    ({"mempool_size": ROOM // 10}, 0),
    ({"mempool_size": ROOM // 10, "mempool_fees": ROOM}, 0),
    ({"mempool_size": ROOM // 10 + 1}, 1),
    ({"mempool_size": ROOM // 2, "mempool_fees": 3 * ROOM}, 7),
    ({"mempool_size": ROOM // 2, "mempool_fees": 3 * ROOM, "current_fee_rate": 9}, 9),
    ({"mempool_size": ROOM // 2, "mempool_fees": 1 << 80}, MOST_RATE),
    (FULL, LEAST_RATE),
    ({**FULL, "current_fee_rate": 6}, 6),
    ({**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": 4.9}}}, LEAST_RATE),
    ({**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": 10}}}, 11),
    ({**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": 10.5}}}, 11),
    ({**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": 1e12}}}, MOST_RATE),
    ({**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": None}}}, LEAST_RATE),
    ({**FULL, "blockchain_state": {"mempool_min_fees": {}}}, LEAST_RATE),
    ({"mempool_size": 1 << 63, "mempool_max_size": 0}, LEAST_RATE),
]


@pytest.mark.parametrize(("changes", "rate"), ANSWERS)
def test_the_rate_follows_from_the_nodes_answers(changes: dict[str, Any], rate: int) -> None:
    with (
        node(always(success(**estimate(**changes)))) as url,
        RpcChain(url, patience=HASTY) as chain,
    ):
        assert chain.fee_rate() == rate


NONSENSE: list[dict[str, Any]] = [
    {"estimates": []},
    {"estimates": [1, 2]},
    {"estimates": [-1]},
    {"estimates": ["1"]},
    {"estimates": None},
    {"estimates": [1e300]},
    {"current_fee_rate": -0.5},
    {"current_fee_rate": None},
    {"current_fee_rate": "much"},
    {"mempool_size": -1},
    {"mempool_size": 0.5},
    {"mempool_max_size": None},
    {"mempool_fees": -1},
    {"mempool_fees": None},
    {**FULL, "blockchain_state": None},
    {**FULL, "blockchain_state": {}},
    {**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": -1}}},
    {**FULL, "blockchain_state": {"mempool_min_fees": {"cost_5000000": "1"}}},
]


@pytest.mark.parametrize("changes", NONSENSE, ids=lambda changes: json.dumps(changes)[-40:])
def test_nonsense_is_one_line(changes: dict[str, Any]) -> None:
    answer = success(**estimate(**changes))
    with node(always(answer)) as url, RpcChain(url, patience=HASTY) as chain:
        with pytest.raises(NodeError, match="gives no answer that can be read") as raised:
            chain.fee_rate()
        assert "\n" not in str(raised.value)


def test_the_rate_is_in_whole_mojos_and_bounded() -> None:
    for estimates in ([0.0], [0.5, 2.0], [7.25], [1e9, 0.0]):
        asked = asked_rate(estimates, PoolUse(0, ROOM, 0, 1e9))
        assert asked == min(ceil(max(estimates)), MOST_RATE), "room is free"
        assert asked_rate(estimates, PoolUse(ROOM, ROOM, 0, 0.0)) == max(asked, LEAST_RATE)
