"""Write `docs/chain.md`: how the embedded node compares with the genuine one, asked of both.

`CHANNELSIM_WRITE_TABLE=1 scripts/test-real-node` writes the page anew; without it, a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from channelsim.channel.chain.rpc import NodeError, RpcClient
from tests.channel.chain.test_mempool_table import table

NOBODY = "ab" * 32

HEAD = """# The chain

Sessions and disputes run on an embedded node, and a peer works with any full node. This page
compares the embedded node with the genuine one: chia-blockchain 2.7.5, its simulator. A script
asked both, and wrote the two tables (`tests/real_node/chain_page.py`); a test on the genuine node
checks that they are up to date.

## Mempools

Each line is a bundle that is pushed, and the answer of the node. There is one column, because the
answers are the same: they are from a table of {count} sequences of pushes
(`tests/data/mempool/table.jsonl`), with which tests compare both nodes. The rules, each with its
place in the reference node, are in `channel/chain/mempool.py`.

| a bundle | answer of both nodes |
|---|---|
{mempool}

`SUCCESS` means that the bundle waits for a block, and `PENDING` that it is kept for later: until
its height, or until the bundle in its way is gone. A node does not say which of the two; ask for
the pending bundles of its coins. `ALREADY_INCLUDING_TRANSACTION` says nothing about what is
pending either: the node had these bytes before. If no bundle of ours is pending then, it will not
take them again before it restarts or the chain reorganises, and the spend has to be offered in
other bytes.

A genuine node that is busy refuses valid bundles, with `INVALID_SPEND_BUNDLE` if validating one
took it too long, with `NO_TRANSACTIONS_WHILE_SYNCING` or `MEMPOOL_NOT_INITIALIZED` before it is
ready, or with an error that names no reason, such as a time-out. It judges the same bytes anew, so
peers and watchers take none of these for a refusal, and offer the bundle again.

## Everything else

| matter | genuine node | embedded node |
|---|---|---|
{rest}

Three differences are not in the table, because no single call shows them:

- The embedded node treats spends of singletons as any others. The reference node can move such a
  spend to the newest coin of the singleton (fast-forward). No coin of a channel is a singleton.
- Blocks of the embedded node carry transactions, unless it is told otherwise (`channelsim node
  --mix`). On the main chain about one in three does. Time locks compare with the last block that
  carries transactions, on both. Peers give what must get in more blocks by their
  [spacing](operators.md#blocks-without-transactions).
- A genuine node keeps its mempool in memory only. `channelsim node --state FILE` has its pending
  bundles back after a restart.
"""

BUNDLES = (
    ("costs more than half a block", "half a block: 459000 bytes", 0),
    ("spends a coin that a pending bundle makes", "child of a pending one", 1),
    ("spends such a coin in one bundle with its parent", "child in one bundle", 1),
    ("is too early by height", "from 5", 0),
    ("is too early by seconds", "from seconds 1000000", 0),
    ("is too late by height", "before 3", 0),
    ("is pushed again while it is pending", "before 40", 1),
    ("conflicts, and pays 9,999,999 mojos more", "raise 30000000 by 9999999", 1),
    ("conflicts, and pays 10,000,000 mojos more", "raise 30000000 by 10000000", 1),
    ("has the bytes of one that was replaced", "raise 30000000 by 10000000", 2),
    ("conflicts, and pays more, but less per cost", "raise with 5000 more bytes", 1),
    ("conflicts, and does not spend all coins of the other one", "fewer coins", 1),
    ("conflicts, and replaces two bundles at once", "two by one (5, 5, 21)", 2),
    ("conflicts, and lacks a lock of the other one", "raise before 40 with no lock", 1),
    ("conflicts, and has the same locks", "raise before 40 with before 40", 1),
    (
        "has an unsigned spend that another pending bundle has too",
        "the same unsigned spend (0, 0)",
        1,
    ),
    ("pays 4.9 mojos per cost to a full mempool", "a pool full at 0", 15),
    ("pays 5.1 mojos per cost to a mempool full of free ones", "a pool full at 0", 16),
    ("pays 5.1 mojos per cost to a mempool full at 6", "a pool full at 6", 16),
    ("was evicted from a full mempool, and is pushed again", "a pool full at 0", 21),
    (
        "ends within 48 blocks, when such bundles fill a block and pay more",
        "ending soon, cheaper",
        2,
    ),
    ("ends in 70 blocks, and there are as many", "ending late", 2),
    ("has expired in the mempool, and is pushed again", "expired", 3),
    ("has a condition that does not exist", "unknown condition", 0),
    ("has a coin condition with a fourth argument", "fourth argument", 0),
    ("has a wrong signature", "signature", 0),
    ("is the same wrong one again", "signature", 1),
    ("makes more mojos than it spends", "mints", 0),
    ("has an atom whose length is too long", "long atom", 0),
    ("spends a coin that is spent", "spent", 1),
)
"""Bundles in words, with a sequence of the table and the number of the answer in it."""


@dataclass(frozen=True)
class Asked:
    """A node, by its RPC."""

    client: RpcClient

    def ask(self, call: str, **arguments: Any) -> Any:
        """The answer to a call; its error as text."""
        try:
            return self.client.ask_either(call, dict, **arguments)
        except NodeError as error:
            return str(error).partition("(")[2].rstrip(")")


def _keys(answer: Any) -> str:
    if isinstance(answer, dict):
        return "answered"
    words = str(answer).partition(": 404")[0].replace("`", "'").replace(NOBODY, "…")
    return f"`{words}`"


def _largest(asked: Asked) -> str:
    challenge = asked.ask("get_network_info")["genesis_challenge"].removeprefix("0x")
    data = asked.ask("get_aggsig_additional_data")["additional_data"].removeprefix("0x")
    return "the genesis challenge" if challenge == data else "data of its own"


def _average(asked: Asked) -> str:
    return str(type(asked.ask("get_blockchain_state")["blockchain_state"]["average_block_time"]))


def _rewards(asked: Asked) -> str:
    """The coins of a block's reward."""
    height = asked.ask("get_blockchain_state")["blockchain_state"]["peak"]["height"]
    header = asked.ask("get_block_record_by_height", height=height)["block_record"]["header_hash"]
    added = asked.ask("get_additions_and_removals", header_hash=header)["additions"]
    amounts = sorted(one["coin"]["amount"] for one in added if one["coinbase"])
    return ", ".join(f"{amount:,}" for amount in amounts) or "none that is listed"


CALLS: tuple[tuple[str, Callable[[Asked], str]], ...] = (
    ("AGG_SIG_ME data of the simulator's network", _largest),
    (
        "coins at an address with `start_height: null`",
        lambda asked: _keys(
            asked.ask("get_coin_records_by_puzzle_hash", puzzle_hash=NOBODY, start_height=None)
        ),
    ),
    (
        "an unknown coin",
        lambda asked: _keys(asked.ask("get_coin_record_by_name", name=NOBODY)),
    ),
    ("a missing argument", lambda asked: _keys(asked.ask("get_coin_record_by_name"))),
    (
        "an argument of the wrong kind",
        lambda asked: _keys(asked.ask("get_coin_record_by_name", name=5)),
    ),
    (
        "a height past the tip",
        lambda asked: _keys(asked.ask("get_block_record_by_height", height=100_000)),
    ),
    (
        "the first block",
        lambda asked: (
            "height 0"
            if isinstance(asked.ask("get_block_record_by_height", height=0), dict)
            else "height 1"
        ),
    ),
    ("rewards in a block's additions", _rewards),
    ("mempool in blocks", lambda asked: _blocks(asked)),
    ("`get_block`", lambda asked: _keys(asked.ask("get_block", header_hash=NOBODY))),
    ("`get_blocks`", lambda asked: _keys(asked.ask("get_blocks", start=1, end=2))),
    ("`get_network_space`", lambda asked: _keys(asked.ask("get_network_space"))),
    ("`create_block_generator`", lambda asked: _keys(asked.ask("create_block_generator"))),
    ("`get_connections`", lambda asked: _keys(asked.ask("get_connections"))),
)


def _blocks(asked: Asked) -> str:
    state = asked.ask("get_blockchain_state")["blockchain_state"]
    return f"{state['mempool_max_total_cost'] / state['block_max_cost']:g}"


def page(genuine: Asked, embedded: Asked) -> str:
    """The page: what bundles are answered from the stored table, and calls by asking both nodes."""
    rows = {row.sequence.name: row for row in table()}
    mempool = []
    for words, name, number in BUNDLES:
        pushes = [one for one in rows[name].answers if not one.startswith(("pool", "spent"))]
        mempool.append(f"| {words} | `{pushes[number]}` |")
    rest = [f"| {matter} | {probe(genuine)} | {probe(embedded)} |" for matter, probe in CALLS]
    return HEAD.format(count=len(rows), mempool="\n".join(mempool), rest="\n".join(rest))
