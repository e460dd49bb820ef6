"""The embedded node's mempool answers as the genuine node's did: a table of pushes and blocks.

`tests/data/mempool/table.jsonl` has the answers of chia-blockchain 2.7.5;
`tests/real_node/test_mempool_table.py` compares them with those of the node, and writes them anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import msgspec
import pytest

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.mempool import Status
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.lab.node.node_wallet import NodeWallet
from tests.channel.chain.mempool_rows import sequences
from tests.channel.chain.mempool_sequences import PushSequence, Row, groups, run
from tests.paths import DATA
from tests.sampling import one_in

TABLE = DATA / "mempool" / "table.jsonl"

SETTINGS = NodeSettings(pool_cost=6 * BLOCK_COST)
"""The genuine node's constants for tests: a pool of six blocks."""


class Embedded:
    """The embedded node, as sequences use it."""

    def __init__(self) -> None:
        self.chain = SimulatedChain(1, SETTINGS)
        self._wallet = NodeWallet(self.chain, b"sequences")
        self.chain.farm(2)

    def agg_sig_data(self) -> bytes:
        return self.chain.agg_sig_data()

    def tip(self) -> int:
        return self.chain.peak()

    def offer(self, bundle: Bundle) -> str:
        outcome = self.chain.offer(bundle)
        return outcome.error if outcome.status is Status.FAILED else outcome.status.value

    def pool(self) -> set[bytes]:
        return {item.name for item in self.chain.mempool.items()}

    def spent(self, coin: Coin) -> bool:
        seen = self.chain.coin(coin.id)
        return seen is not None and seen.spent is not None

    def coins(self, wanted: Sequence[tuple[bytes, int]]) -> list[Coin]:
        coins = self._wallet.coins(wanted)
        self.chain.farm(3)
        return coins

    def block(self) -> None:
        self.chain.farm()

    def replace(self, back: int) -> None:
        self.chain.reorganise(back, back + 1, keep=False)


@cache
def table() -> list[Row]:
    """The stored table."""
    return [msgspec.json.decode(line, type=Row) for line in TABLE.read_bytes().splitlines()]


GROUPS = list(groups(sequences()))


@pytest.mark.parametrize("group", one_in(3, GROUPS), ids=[group[0].name for group in GROUPS])
def test_the_same_answers_as_the_genuine_node(group: list[PushSequence]) -> None:
    genuine = {row.sequence.name: row for row in table()}
    for row in run(Embedded(), group):
        expected = genuine[row.sequence.name]
        assert expected.sequence == row.sequence, "the table is of other sequences: write it anew"
        assert row.answers == expected.answers, row.sequence


def test_the_table_has_every_answer_that_a_mempool_gives() -> None:
    rows = table()
    assert [row.sequence for row in rows] == sequences()
    assert len(rows) >= 200
    answers = Counter(answer for row in rows for answer in row.answers)
    assert answers.keys() >= {
        "SUCCESS",
        "PENDING",
        "ALREADY_INCLUDING_TRANSACTION",
        "DOUBLE_SPEND",
        "UNKNOWN_UNSPENT",
        "INVALID_FEE_LOW_FEE",
        "INVALID_FEE_TOO_CLOSE_TO_ZERO",
        "BLOCK_COST_EXCEEDS_MAX",
        "ASSERT_SECONDS_RELATIVE_FAILED",
        "ASSERT_BEFORE_HEIGHT_RELATIVE_FAILED",
        "IMPOSSIBLE_HEIGHT_ABSOLUTE_CONSTRAINTS",
        "BAD_AGGREGATE_SIGNATURE",
        "INVALID_CONDITION",
        "MINTING_COIN",
    }
