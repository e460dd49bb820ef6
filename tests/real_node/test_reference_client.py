"""The reference client asks our node all calls that it claims, and the genuine node's errors."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("tests.real_node.chain", reason="the genuine node's suite is not there")

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.node_calls import VERSION
from channelsim.channel.chain.node_json import bundle_json
from channelsim.channel.chain.rpc import Patience, RpcClient
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.channel.lab.node.node_wallet import NodeWallet
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import int_to_atom, serialize, to_list
from channelsim.games.referee import CREATE_COIN
from tests.paths import ROOT
from tests.real_node.chain import RealChain
from tests.real_node.process import PYTHON, RealNode

CLIENT = ROOT / "scripts" / "reference_client.py"
ANYONE = Program(b"\x01")
HINT, NOWHERE = bytes([8]) * 32, bytes([7]) * 32

UNKNOWN = "ab" * 32
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("get_coin_record_by_name", {"name": UNKNOWN}),
    ("get_coin_record_by_name", {}),
    ("get_coin_records_by_names", {}),
    ("get_coin_records_by_puzzle_hash", {}),
    ("get_coin_records_by_puzzle_hashes", {}),
    ("get_coin_records_by_parent_ids", {}),
    ("get_coin_records_by_hint", {}),
    ("get_puzzle_and_solution", {"coin_id": UNKNOWN, "height": 3}),
    ("get_block_record_by_height", {"height": 100_000}),
    ("get_block_record_by_height", {}),
    ("get_block_record", {}),
    ("get_block_record", {"header_hash": UNKNOWN}),
    ("get_block_records", {}),
    ("get_block_records", {"start": 1}),
    ("get_block_spends", {"header_hash": UNKNOWN}),
    ("get_additions_and_removals", {"header_hash": UNKNOWN}),
    ("get_mempool_item_by_tx_id", {"tx_id": UNKNOWN}),
    ("get_mempool_item_by_tx_id", {}),
    ("get_mempool_items_by_coin_name", {}),
    ("push_tx", {}),
    ("get_fee_estimate", {}),
]
"""Calls that have no answer."""


def paid(coin: Coin, fee: int = 0) -> Bundle:
    """A spend of this coin that pays to nowhere, with a hint."""
    made = int_to_atom(coin.amount - fee)
    payment = to_list([int_to_atom(CREATE_COIN), NOWHERE, made, to_list([HINT])])
    return Bundle((Spend(coin, ANYONE.serialized, serialize(to_list([payment]))),), NO_SIGNATURE)


def test_the_reference_client_parses_all_that_our_node_answers() -> None:
    chain = SimulatedChain(1, NodeSettings(agg_sig_data=HINT))
    coin, other = NodeWallet(chain, b"client").coins([(ANYONE.hash, 100), (ANYONE.hash, 90)])
    first, second = paid(coin, 3), paid(other, 7)
    chain.push(first)
    chain.farm(2)
    height = chain.peak() - 1
    asked = {
        "spent": coin.id.hex(),
        "puzzle_hash": NOWHERE.hex(),
        "hint": HINT.hex(),
        "bundle": bundle_json(second),
        "wrong": WRONG,
    }
    with chain.served() as url:
        ran = subprocess.run(
            [os.environ[PYTHON], str(CLIENT), str(urlsplit(url).port)],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = json.loads(ran.stdout)
    made = Coin(coin.id, NOWHERE, 97).id.hex()
    cost = found["item"][1]
    assert 1_000_000 < cost < 10_000_000
    routes, errors = found.pop("routes"), found.pop("errors")
    assert found == {
        "state": [chain.peak(), True, 0],
        "agg_sig_data": HINT.hex(),
        "network": chain.ledger.genesis_challenge.hex(),
        "constants": BLOCK_COST,
        "healthz": True,
        "version": VERSION,
        "coin": [coin.id.hex(), height - 1, True],
        "by names": [coin.id.hex()],
        "unspent by names": [],
        "by hash": [made],
        "by hashes": [made],
        "by parents": [made],
        "by hint": [made],
        "in no block": [],
        "solution": first.spends[0].solution.hex(),
        "block": [height, True, 3],
        "no block": None,
        "blocks": list(range(1, height + 1)),
        "spends": [coin.id.hex()],
        "added and removed": [[made], [coin.id.hex()]],
        "push": "SUCCESS",
        "tx ids": [name_of_bundle(second).hex()],
        "item": [7, cost, 1, 1],
        "estimates": [[0, 0], [60, 300]],
    }
    source = CLIENT.read_text()
    for route in routes:
        assert route.strip("/") in source, f"{route} is claimed, and not asked"
    assert len(errors) == len(WRONG)


def test_errors_have_the_words_of_the_genuine_node(chain: RealChain, node: RealNode) -> None:
    assert chain.peak()
    with SimulatedChain(1).served() as url:
        clients = [
            RpcClient(url, None, Patience()),
            RpcClient(node.url, node.credentials, Patience()),
        ]
        different = []
        try:
            for call, arguments in WRONG:
                errors = [client.ask_either(call, dict, **arguments) for client in clients]
                if errors[0] != errors[1]:
                    different.append((call, *errors))
        finally:
            for client in clients:
                client.close()
    assert different == []
