"""Blocks and the mempool of the genuine node, filled by a crowd.

CHANNELSIM_EVERY_CROWD=1 measures all rows of `channelsim bench --crowd`, some minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from secrets import token_hex

import pytest

from channelsim.channel.bench.crowded_spends import PINS, SPENDS, Node, Row, Trial, rows, run_trial
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.crowd import FULL_BLOCKS, CrowdedChain, CrowdSize
from tests.real_node.chain import RealChain

RATE = 10
COST = 8_000_000
"""About the cost of a spend without padding."""


@pytest.mark.parametrize("pending", [FULL_BLOCKS, None])
def test_a_crowd_keeps_out_what_pays_less(chain: RealChain, pending: int | None) -> None:
    key = wallet_key(os.urandom(32), "wallet")
    coin = chain.give(address_of(key), 10 * RATE * COST)
    size = CrowdSize(RATE, 12, pending, chain.limits())
    crowded = CrowdedChain(chain, os.urandom(32), size)
    crowded.begin()
    crowded.farm()
    data = chain.agg_sig_data()
    answer = crowded.push(padded_spend(key, coin, 0, 0, data)).answer
    assert answer is (Answer.REFUSED if pending is None else Answer.ACCEPTED)
    for _ in range(5):
        crowded.farm()
        block = chain.ask("get_block_record_by_height", height=chain.peak())["block_record"]
        assert block["fees"] >= 2 * size.fee
    assert not spent(chain, coin.id)
    assert crowded.push(padded_spend(key, coin, int(1.2 * RATE * COST), 0, data)).benign
    crowded.farm()
    assert spent(chain, coin.id)


def spent(chain: RealChain, coin_id: bytes) -> bool:
    seen = chain.coin(coin_id)
    return seen is not None and seen.spent is not None
