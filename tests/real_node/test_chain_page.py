"""The page that compares the nodes says what they answer."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("tests.real_node.chain", reason="the genuine node's suite is not there")

from channelsim.channel.chain.rpc import Patience, RpcClient
from tests.channel.chain.test_mempool_table import Embedded
from tests.paths import ROOT
from tests.real_node.chain import RealChain
from tests.real_node.chain_page import Asked, page
from tests.real_node.process import RealNode

PAGE = ROOT / "docs" / "chain.md"


def test_the_page_is_what_both_nodes_answer(chain: RealChain, node: RealNode) -> None:
    chain.farm()
    with Embedded().chain.served() as url:
        clients = [
            RpcClient(node.url, node.credentials, Patience(seconds=60)),
            RpcClient(url, None, Patience()),
        ]
        try:
            written = page(*map(Asked, clients))
        finally:
            for client in clients:
                client.close()
    if os.environ.get("CHANNELSIM_WRITE_TABLE") == "1":
        PAGE.write_text(written)
    assert PAGE.read_text() == written
