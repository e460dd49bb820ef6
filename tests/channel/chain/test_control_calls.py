"""Calls that change a test chain: what they do to coins and bundles, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from chia_wallet_sdk import Address

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.control_calls import MOST_SNAPSHOTS, ControlCalls
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.rpc import PATIENCE, RpcClient
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.report.node_log import NodeLog
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN

KEY = wallet_key(bytes([1]), "wallet")
HERE = address_of(KEY)


def payment(chain: SimulatedChain, coin: Coin) -> tuple[Bundle, Coin]:
    """The whole coin to another address, and the new coin."""
    made = Coin(coin.id, bytes(32), coin.amount)
    listed = to_list([condition(CREATE_COIN, made.puzzle_hash, int_to_atom(made.amount))])
    return signed_spend(KEY, coin, listed, chain.agg_sig_data()), made


class Asked:
    """A served chain, and a client that changes it."""

    def __init__(self, chain: SimulatedChain, url: str) -> None:
        self.chain = chain
        self.client = RpcClient(url, None, PATIENCE)
        self.reader = RpcChain(url)

    def __call__(self, call: str, **arguments: Any) -> dict[str, Any] | str:
        return self.client.ask_either(call, dict[str, Any], **arguments)

    def height(self, call: str, **arguments: Any) -> int:
        answer = self(call, **arguments)
        assert isinstance(answer, dict), answer
        assert answer["new_peak_height"] == self.reader.peak()
        return self.reader.peak()


@pytest.fixture
def asked() -> Iterator[Asked]:
    chain = SimulatedChain(3)
    with chain.served(more=ControlCalls(chain).calls) as url:
        both = Asked(chain, url)
        with closing(both.client), both.reader:
            yield both


def test_blocks_are_made_and_replaced(asked: Asked) -> None:
    assert (asked.height("farm_block"), asked.height("farm_block", blocks=4)) == (2, 6)
    coin = asked.chain.give(HERE, 1)
    bundle, made = payment(asked.chain, coin)
    for kept in (True, False):
        assert asked.reader.push(bundle).answer is Answer.ACCEPTED
        asked.height("farm_block")
        assert asked.reader.coin(made.id) is not None
        before = asked.reader.peak()
        assert asked.height("reorg_blocks", num_of_blocks_to_rev=1, keep=kept) == before + 1
        assert (asked.reader.coin(made.id) is not None) is kept
        if kept:
            asked.height("reorg_blocks", num_of_blocks_to_rev=2, num_of_new_blocks=5)
            assert asked.reader.coin(made.id) is None, "the bundles of the old blocks are lost"


@pytest.mark.parametrize("written", ["hex", "0x", "address"])
def test_any_address_is_funded(asked: Asked, written: str) -> None:
    puzzle_hash = bytes([7]) * 32
    address = {
        "hex": puzzle_hash.hex(),
        "0x": f"0x{puzzle_hash.hex()}",
        "address": Address(puzzle_hash, "txch").encode(),
    }[written]
    assert asked.height("fund_address", address=address, rewards=2) == 3
    coins = asked.reader.coins_at(puzzle_hash)
    assert [seen.coin.amount for seen in coins] == [BLOCK_REWARD] * 2


def test_a_snapshot_has_coins_and_pending_bundles(asked: Asked) -> None:
    """After a revert all is as before, whatever happened, and blocks have other headers."""
    chain = asked.chain
    coin = chain.give(HERE, 1)
    bundle, made = payment(chain, coin)
    chain.push(bundle)
    first = asked("snapshot")
    assert first == {"success": True, "snapshot": 1, "height": 2}
    headers = set()
    for _ in range(3):
        asked.height("farm_block", blocks=2)
        headers.add(chain.ledger.header_hash(3))
        assert asked.reader.coin(made.id) is not None
        assert asked("snapshot") == {"success": True, "snapshot": 2 + len(headers) - 1, "height": 4}
        asked.height("reorg_blocks", num_of_blocks_to_rev=3)
        assert asked.reader.coin(coin.id) is None, "its block is gone, too"
        assert asked.height("revert", snapshot=1) == 2
        assert asked.reader.coin(made.id) is None
        assert [pending.bundle for pending in asked.reader.pending(coin.id)] == [bundle]
    assert len(headers) == 3, "no block is taken for one of before"
    assert "there is no snapshot 4; the last one is 1" in str(asked("revert", snapshot=4))
    assert asked.height("revert") == 2


def test_a_stored_chain_has_its_reverts(tmp_path: Path) -> None:
    with stored_chain(tmp_path / "chain", 3) as chain:
        calls = ControlCalls(chain).calls
        chain.give(HERE, 1)
        for number in range(3):
            calls["snapshot"]({})
            chain.farm(number + 2)
            chain.give(HERE, 1)
            if number:
                calls["revert"]({})
                chain.farm()
        found = [chain.peak(), chain.coins_at(HERE), chain.ledger.header_hash(chain.peak())]
    for _ in range(2):
        with stored_chain(tmp_path / "chain", 3) as chain:
            height = chain.peak()
            assert [height, chain.coins_at(HERE), chain.ledger.header_hash(height)] == found


@pytest.mark.parametrize(
    ("call", "arguments", "reason"),
    [
        ("farm_block", {"blocks": 0}, "blocks: Expected `int` >= 1"),
        ("farm_block", {"blocks": 10_001}, "blocks: Expected `int` <= 10000"),
        ("farm_block", {"blocks": "3"}, "blocks: Expected `int`, got `str`"),
        ("reorg_blocks", {"num_of_blocks_to_rev": 3}, "the chain has 3 blocks"),
        ("reorg_blocks", {"num_of_new_blocks": 1}, "1 block"),
        ("reorg_blocks", {"keep": 1}, "keep: Expected `bool`"),
        ("fund_address", {}, "No address in request"),
        ("fund_address", {"address": "txch1"}, "no address (txch1"),
        ("fund_address", {"address": "11" * 31 + "  "}, "no address (txch1"),
        ("fund_address", {"address": "x" * 201}, "address: Expected `str` of length <= 200"),
        ("fund_address", {"address": "05" * 32, "rewards": 101}, "rewards: Expected `int` <= 100"),
        ("revert", {}, "there is no snapshot since the node started"),
        ("revert", {"snapshot": 1 << 70}, "there is no snapshot since the node started"),
    ],
)
def test_wrong_calls_change_nothing(
    asked: Asked, call: str, arguments: dict[str, Any], reason: str
) -> None:
    asked.chain.farm(2)
    before = asked.chain.changes
    answer = asked(call, **arguments)
    assert isinstance(answer, str), answer
    assert reason in answer
    assert (asked.chain.changes, asked.reader.peak()) == (before, 3)


def test_snapshots_are_bounded(asked: Asked) -> None:
    for _ in range(MOST_SNAPSHOTS):
        assert isinstance(asked("snapshot"), dict)
    assert "revert to one of them first" in str(asked("snapshot"))
    assert isinstance(asked("revert", snapshot=1), dict)
    assert isinstance(asked("snapshot"), dict)


def test_only_a_test_chain_has_these_calls() -> None:
    with SimulatedChain(1).served() as url, closing(RpcClient(url, None, PATIENCE)) as client:
        routes = client.ask("get_routes", dict[str, Any])["routes"]
    assert not {"/farm_block", "/revert"} & set(msgspec.convert(routes, list[str]))


def test_the_log_names_bundles_and_folds_empty_blocks() -> None:
    chain = SimulatedChain(3)
    log = NodeLog(chain)
    calls = ControlCalls(chain).calls
    coin = chain.give(HERE, 1)
    chain.farm(2)
    chain.farm()
    bundle, made = payment(chain, coin)
    chain.push(bundle)
    chain.farm()
    chain.push(payment(chain, made)[0])
    calls["snapshot"]({})
    chain.reorganise(2, 3, keep=False)
    calls["revert"]({})
    chain.farm(2)
    name = log.taken()
    text = "\n".join([*name, *log.end()])
    short = text.partition("bundle ")[2].partition(" ")[0]
    assert text.splitlines() == [
        f"block 2 pays 2,000,000,000,000 mojos to {Address(HERE, 'txch').encode()}",
        "blocks 3 to 5 are empty",
        f"bundle {short} is pending: spends 1 coin with 2,000,000,000,000 mojos, fee 0",
        f"block 6 has bundle {short}",
        text.splitlines()[4],
        "the last 2 blocks were replaced by 3; the tip is block 7, and 0 bundles are pending",
        "went back to a snapshot: the tip is block 6, and 0 bundles are pending",
        "blocks 7 to 8 are empty",
    ]
    assert text.splitlines()[4].endswith(" is refused: WRONG_PUZZLE_HASH")
