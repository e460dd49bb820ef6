"""The genuine node's answers are those of the table, with which the embedded node agrees.

With CHANNELSIM_WRITE_TABLE=1 the table is written anew, with the answers of this node.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from secrets import token_bytes

import msgspec
import pytest
from chia_wallet_sdk import Address

pytest.importorskip("tests.real_node.chain", reason="the genuine node's suite is not there")

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.node_json import bundle_json, unhex
from channelsim.channel.chain.rpc import NodeError
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN
from tests.channel.chain.mempool_rows import crowded_mixtures, sequences, wild_mixtures
from tests.channel.chain.mempool_sequences import PushSequence, Row, groups, run
from tests.channel.chain.test_mempool_table import TABLE, Embedded, table
from tests.real_node.chain import RealChain

WRITES = os.environ.get("CHANNELSIM_WRITE_TABLE") == "1"

SEED = os.environ.get("CHANNELSIM_MEMPOOL_SEED", "other")
"""The seed of the sequences that are in no table."""

WILD, WILD_CROWDS = (
    int(count) for count in os.environ.get("CHANNELSIM_MEMPOOL_COUNTS", "60,3").split(",")
)
"""How many of them are asked: mixtures, and those that fill blocks."""


class Genuine:
    """The genuine node, as sequences use it, with money of its own from block rewards."""

    def __init__(self, chain: RealChain) -> None:
        self._chain = chain
        chain.reset()
        # Another address each time: a node does not take a block that it had before.
        self._key = wallet_key(token_bytes(32), "sequences")
        own = Address(address_of(self._key), "txch").encode()
        chain.ask("farm_block", address=own, blocks=2, guarantee_tx_block=True)
        chain.farm()
        self._base = chain.peak()
        coins = [seen.coin for seen in chain.coins_at(address_of(self._key))]
        self._reward = max(coins, key=_amount)

    def begin_again(self) -> None:
        """Go back to where only the reward is there: no bundle in the mempool is valid then."""
        blocks = self._chain.peak() - self._base
        if blocks:
            self._chain.ask("revert_blocks", num_of_blocks=blocks)

    def agg_sig_data(self) -> bytes:
        return self._chain.agg_sig_data()

    def tip(self) -> int:
        return self._chain.peak()

    def offer(self, bundle: Bundle) -> str:
        try:
            answer = self._chain.ask("push_tx", spend_bundle=bundle_json(bundle))
        except NodeError as error:
            text = str(error).rstrip(")")
            return text.rsplit("error ", 1)[-1]
        return str(answer["status"])

    def pool(self) -> set[bytes]:
        return {unhex(name) for name in self._chain.ask("get_all_mempool_tx_ids")["tx_ids"]}

    def spent(self, coin: Coin) -> bool:
        seen = self._chain.coin(coin.id)
        return seen is not None and seen.spent is not None

    def coins(self, wanted: Sequence[tuple[bytes, int]]) -> list[Coin]:
        listed = to_list(
            condition(CREATE_COIN, puzzle_hash, int_to_atom(amount))
            for puzzle_hash, amount in wanted
        )
        bundle = signed_spend(self._key, self._reward, listed, self.agg_sig_data())
        assert self.offer(bundle) == "SUCCESS"
        self._chain.farm(4)
        return [Coin(self._reward.id, *pair) for pair in wanted]

    def block(self) -> None:
        self._one_more(self._chain.farm)

    def replace(self, back: int) -> None:
        self._one_more(lambda: self._chain.reorganise(back, back + 1, keep=False))

    def _one_more(self, change: Callable[[], object]) -> None:
        height = self._chain.peak()
        # The block is made, but the node stumbles over a bundle that it kept, took again, and gave
        # up at once for another one that it kept.
        with suppress(NodeError):
            change()
        assert self._chain.peak() == height + 1


def _amount(coin: Coin) -> tuple[int, bytes]:
    return coin.amount, coin.id


def _rows(node: Genuine, group: Sequence[PushSequence]) -> list[Row]:
    node.begin_again()
    return run(node, group)


@pytest.fixture(scope="module")
def genuine(chain_from_the_start: RealChain) -> Genuine:
    return Genuine(chain_from_the_start)


@pytest.fixture(scope="module")
def rows(genuine: Genuine) -> dict[str, Row]:
    """The genuine node's answers to all sequences of the table."""
    return {
        row.sequence.name: row for group in groups(sequences()) for row in _rows(genuine, group)
    }


def test_the_answers_are_those_of_the_table(rows: dict[str, Row]) -> None:
    if WRITES:
        ordered = [rows[sequence.name] for sequence in sequences()]
        TABLE.write_bytes(b"\n".join(map(msgspec.json.encode, ordered)) + b"\n")
        table.cache_clear()
    wrong = [row.sequence.name for row in table() if rows[row.sequence.name] != row]
    assert wrong == []


def test_both_nodes_answer_other_sequences_alike(genuine: Genuine) -> None:
    wild = [*wild_mixtures(SEED, WILD), *crowded_mixtures(SEED, WILD_CROWDS)]
    for group in groups(wild):
        for ours, theirs in zip(run(Embedded(), group), _rows(genuine, group), strict=True):
            assert ours.answers == theirs.answers, (SEED, ours.sequence)
