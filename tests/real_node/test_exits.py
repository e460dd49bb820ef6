"""No command ends with a signal: failing `peer listen` over TLS, 20 of them or CHANNELSIM_EXITS.

Each fails after the node was asked, while threads of its connections may still be there.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from chia_wallet_sdk import SecretKey

from channelsim.channel.chain.full_node import NodeError, RpcChain
from channelsim.channel.network.identity import make_identity
from tests.channel.chain.test_rpc_client import credentials
from tests.channel.cli.test_peer import wallet_file
from tests.channel.cli.test_recover import start
from tests.real_node.chain import RealChain
from tests.real_node.process import RealNode
from tests.real_node.test_sessions import of_node

RUNS = int(os.environ.get("CHANNELSIM_EXITS", "20"))


@pytest.fixture
def failing(
    tmp_path: Path, chain: RealChain, node: RealNode
) -> dict[str, tuple[tuple[object, ...], str]]:
    """Options of `peer listen` that fail, by kind, and a part of the line that says why."""
    stranger = credentials(tmp_path, "stranger")
    key = wallet_file(chain, tmp_path, "exits")
    nobody = tmp_path / "nobody.key"
    nobody.write_text(SecretKey.from_seed(bytes(32)).to_bytes().hex())
    wrong = tmp_path / "wrong.pass"
    wrong.write_text("wrong")
    make_identity(tmp_path / "passphrase", b"passphrase")
    asked, unknown = of_node(node), ("--cert", stranger.certificate, "--key", stranger.key)
    return {
        "certificate": (("--node", node.url, *unknown, "--wallet-key", key), "see --cert"),
        "no certificate": (("--node", node.url, "--wallet-key", key), "--cert and --key"),
        "no money": ((*asked, "--wallet-key", nobody), "no coin at the address of this key"),
        "too little money": (
            (*asked, "--wallet-key", key, "--balance", 10**9),
            "the largest coin of this key has",
        ),
        "passphrase": (
            (*asked, "--wallet-key", key, "--passphrase-file", wrong),
            "the passphrase is wrong",
        ),
    }


def test_no_command_ends_with_a_signal(
    tmp_path: Path, failing: dict[str, tuple[tuple[object, ...], str]]
) -> None:
    kinds = [*failing] * (RUNS // len(failing) + 1)

    def ran(kind: str) -> tuple[str, int]:
        options, reason = failing[kind]
        terms = ("--game", "spacepoker", "--peer", "00" * 32)
        process = start("peer", "listen", tmp_path / kind, *terms, *options)
        out, err = process.communicate(timeout=240)
        assert (out, reason in err, err.count("\n")) == ("", True, 1), (kind, err)
        return kind, process.returncode

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = Counter(pool.map(ran, kinds[:RUNS]))
    assert sum(codes.values()) == RUNS
    assert {code for _, code in codes} == {2}, codes


def test_a_certificate_that_the_node_does_not_know_is_said_as_such(
    tmp_path: Path, node: RealNode
) -> None:
    for stranger in (None, credentials(tmp_path, "stranger")):
        with RpcChain(node.url, stranger) as chain, pytest.raises(NodeError, match="--cert"):
            chain.peak()


def test_a_node_without_blocks_has_no_time_per_block() -> None:
    with RealNode("timeless") as node, RpcChain(node.url, node.credentials) as client:
        with pytest.raises(NodeError, match="has no blocks yet"):
            client.peak()
        with RealChain(node) as chain:
            chain.ask("revert_blocks", num_of_blocks=chain.peak() - 1)
            state = chain.ask("get_blockchain_state")["blockchain_state"]
            assert state["average_block_time"] is None
            assert client.peak() == 1
