"""A crowd fills blocks and the mempool of the genuine node."""

from __future__ import annotations

import time
from secrets import token_bytes

import pytest

from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.crowd import CrowdedChain, CrowdSize
from tests.real_node.chain import RealChain

RATE = 10


@pytest.mark.parametrize("pending", [2, None])
def test_a_crowd_fills_blocks(chain: RealChain, pending: int | None) -> None:
    print(chain.limits())
    key = wallet_key(token_bytes(32), "wallet")
    coin = chain.give(address_of(key), 10**9)
    t=time.time()
    crowded = CrowdedChain(chain, token_bytes(32), CrowdSize(RATE, 12, pending, chain.limits()))
    print("arrive", time.time()-t, chain.peak())
    crowded.begin()
    for fee in (0,):
        for _ in range(10):
            t=time.time()
            crowded.farm()
            print("block", time.time()-t, chain.peak())
            st=chain.ask("get_blockchain_state")["blockchain_state"]
            print(st["mempool_cost"], st["mempool_max_total_cost"], st["mempool_size"])
            rec=chain.ask("get_block_record_by_height", height=chain.peak())["block_record"]
            print(rec["fees"])
    r = chain.push(padded_spend(key, coin, 0, 0, chain.agg_sig_data()))
    print(r)
    crowded.farm()
    print(chain.coin(coin.id).spent)
    r = chain.push(padded_spend(key, coin, 12*8_000_000, 0, chain.agg_sig_data()))
    print(r)
    t=time.time()
    crowded.farm()
    print("block", time.time()-t, chain.peak())
    print(chain.coin(coin.id).spent)
    print(chain.ask("get_fee_estimate", target_times=[60,120,300], cost=1))
    assert 0
