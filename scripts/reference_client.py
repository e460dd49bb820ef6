"""Ask a node all calls by the reference client, and print what it parsed.

It runs in the environment of chia-blockchain: python reference_client.py PORT, with a JSON object
of names to ask for on standard input. The output is one JSON object of calls and results; what the
client cannot parse ends it with a traceback.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from chia.full_node.full_node_rpc_client import FullNodeRpcClient
from chia.rpc.rpc_client import ResponseFailureError
from chia_rs import CoinRecord, CoinSpend, SpendBundle
from chia_rs.sized_bytes import bytes32


def name(text: str) -> bytes32:
    return bytes32.fromhex(text)


def ids(records: list[CoinRecord]) -> list[str]:
    return [record.coin.name().hex() for record in records]


def spent(spend: CoinSpend) -> str:
    return spend.coin.name().hex()


async def all_calls(client: FullNodeRpcClient, asked: dict[str, Any]) -> dict[str, Any]:
    """Every call that our node claims to answer."""
    coin, puzzle_hash, hint = (name(asked[key]) for key in ("spent", "puzzle_hash", "hint"))
    bundle = SpendBundle.from_json_dict(asked["bundle"])
    found: dict[str, Any] = {}
    state = await client.get_blockchain_state()
    peak = state["peak"]
    found["state"] = [peak.height, state["sync"]["synced"], state["mempool_size"]]
    found["agg_sig_data"] = (await client.get_aggsig_additional_data()).hex()
    found["network"] = (await client.get_network_info())["genesis_challenge"]
    found["constants"] = int((await client.get_constants()).MAX_BLOCK_COST_CLVM)
    found["healthz"] = (await client.healthz())["success"]
    found["version"] = (await client.fetch("get_version", {}))["version"]
    found["routes"] = (await client.fetch("get_routes", {}))["routes"]

    record = await client.get_coin_record_by_name(coin)
    found["coin"] = [record.coin.name().hex(), record.confirmed_block_index, record.spent]
    found["by names"] = ids(await client.get_coin_records_by_names([coin]))
    found["unspent by names"] = ids(await client.get_coin_records_by_names([coin], False))
    found["by hash"] = ids(await client.get_coin_records_by_puzzle_hash(puzzle_hash))
    found["by hashes"] = ids(await client.get_coin_records_by_puzzle_hashes([puzzle_hash]))
    found["by parents"] = ids(await client.get_coin_records_by_parent_ids([coin]))
    found["by hint"] = ids(await client.get_coin_records_by_hint(hint))
    found["in no block"] = ids(await client.get_coin_records_by_names([coin], True, 0, 1))
    height = record.spent_block_index
    solution = await client.get_puzzle_and_solution(coin, height)
    found["solution"] = bytes(solution.solution).hex()

    block = await client.get_block_record_by_height(height)
    assert block is not None
    same = await client.get_block_record(block.header_hash)
    assert same == block
    found["block"] = [block.height, block.is_transaction_block, block.fees]
    found["no block"] = await client.get_block_record_by_height(1 << 30)
    found["blocks"] = [one["height"] for one in await client.get_block_records(1, height + 1)]
    found["spends"] = [spent(one) for one in await client.get_block_spends(block.header_hash)]
    added, removed = await client.get_additions_and_removals(block.header_hash)
    found["added and removed"] = [ids(added), ids(removed)]

    found["push"] = (await client.push_tx(bundle))["status"]
    tx = bundle.name()
    found["tx ids"] = [one.hex() for one in await client.get_all_mempool_tx_ids()]
    items = await client.get_all_mempool_items()
    assert [one.hex() for one in items] == found["tx ids"]
    item = await client.get_mempool_item_by_tx_id(tx)
    assert SpendBundle.from_json_dict(item["spend_bundle"]) == bundle
    found["item"] = [item["fee"], item["cost"], len(item["additions"]), len(item["removals"])]
    by_coin = await client.get_mempool_items_by_coin_name(bundle.coin_spends[0].coin.name())
    assert by_coin["mempool_items"] == [item]
    estimate = await client.get_fee_estimate([60, 300], 20_000_000)
    found["estimates"] = [estimate["estimates"], estimate["target_times"]]

    found["errors"] = []
    for call, arguments in asked["wrong"]:
        try:
            await client.fetch(call, arguments)
        except ResponseFailureError as error:
            found["errors"].append(error.response["error"])
    return found


async def main() -> None:
    async with FullNodeRpcClient.create_as_context("127.0.0.1", int(sys.argv[1])) as client:
        print(json.dumps(await all_calls(client, json.load(sys.stdin))))


asyncio.run(main())
