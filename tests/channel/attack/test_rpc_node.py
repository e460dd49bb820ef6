"""Nodes that are asked by their RPC: what is read is what they have, and a mistake is noticed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TypeVar

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.drawing import draw
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.rpc_node import RpcNode
from channelsim.channel.attack.world import run
from channelsim.channel.chain.coins import Bundle, signed_spend
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.games.chance import Chance
from scripts.tools.attack_faults.node_rpc import NODE_RPC
from scripts.tools.attack_faults.planting import Fault, Reach
from tests.sampling import one_in

T = TypeVar("T")

DISPUTE = Attack(
    ("calpoker",),
    "by rpc",
    (Action("go-on-chain", 0, 8), Action("fill", 0, 1, 14, since="chain")),
    hands=1,
    nodes=1,
)

RARE = (
    *("reads-one-child-less", "reads-children-backwards", "reads-early-as-conflicts"),
    "reads-no-error-word",
)
"""Mistakes that make no difference in it: scripts of their own notice them, with `-m long`."""


def asked(call: Callable[[], T]) -> T:
    """The answer to a call, which is made again where the node that is read goes away."""
    for _ in range(5):
        with suppress(NodeError):
            return call()
    raise AssertionError("both nodes are away")


def test_a_session_is_the_same_whether_nodes_are_asked_by_their_rpc_or_not() -> None:
    """But for the words of an answer: a node has one for all that waits."""
    with fast_mode():
        asked, direct = run(DISPUTE), run(replace(DISPUTE, nodes=0))
    assert asked.violations == direct.violations == ()
    assert asked.blocks == direct.blocks
    assert asked.on_chain


def test_some_sessions_have_such_nodes() -> None:
    drawn = [draw(("calpoker",), f"nodes/{number}").nodes for number in range(60)]
    assert {*drawn} == {0, 1, 2}
    assert drawn.count(0) > 40


@pytest.mark.parametrize("fault", one_in(3, NODE_RPC), ids=lambda fault: fault.name)
def test_each_mistake_is_noticed_where_it_is_reached(fault: Fault) -> None:
    reach = Reach()
    with fast_mode(), ExitStack() as stack:
        fault.plant(stack, reach)
        session = run(replace(DISPUTE, nodes=2))
    noticed = {violation.monitor for violation in session.violations}
    assert reach.reached is (fault.name not in RARE)
    assert ("node" in noticed) is reach.reached


@pytest.mark.parametrize("nodes", [1, 2])
def test_what_is_read_is_what_the_node_has(nodes: int) -> None:
    found: list[str] = []
    chain = SimulatedChain(1)
    node = RpcNode(chain, chain, nodes, Chance(b""), found.append)
    key = wallet_key(b"rpc", "node")
    address = address_of(key)
    coin = chain.give(address, 100)
    bundle = signed_spend(key, coin, b"", chain.agg_sig_data())
    assert asked(lambda: node.push(bundle)).answer in (Answer.ACCEPTED, Answer.KNOWN)
    assert [one.bundle for one in asked(lambda: node.pending(coin.id))] == [bundle]
    unsigned = Bundle(bundle.spends, bytes([0xC0]) + bytes(95))
    assert asked(lambda: node.push(unsigned)).answer in (Answer.REFUSED, Answer.KNOWN)
    assert asked(lambda: node.coins_at(address)) == chain.coins_at(address)
    chain.farm()
    assert asked(lambda: node.coin(coin.id)) == chain.coin(coin.id)
    assert asked(lambda: node.children(coin.id)) == []
    assert asked(lambda: node.coin(bytes(32))) is None
    assert asked(node.peak) == chain.peak()
    assert asked(node.agg_sig_data) == chain.agg_sig_data()
    assert asked(node.fee_rate) == chain.fee_rate()
    assert found == []
