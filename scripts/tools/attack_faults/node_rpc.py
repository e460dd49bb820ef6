"""Faults between a peer and its node: in the JSON of the RPC, as the node writes and we read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from channelsim.channel.chain import full_node, node_calls, node_json
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.node_calls import NodeCalls
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.rpc import line
from channelsim.channel.chain.several_nodes import SeveralNodes
from scripts.tools.attack_faults.planting import Fault, changing, compared, function


def _instead(one: Answer, other: Answer) -> Any:
    """Read one answer to a push as another."""

    def change(result: PushResult) -> PushResult:
        return PushResult(other, result.error) if result.answer is one else result

    return change


def _spent_in_next_block(seen: CoinSeen) -> CoinSeen:
    return seen if seen.spent is None else replace(seen, spent=seen.spent + 1)


def _without_last_spend(bundle: dict[str, Any]) -> dict[str, Any]:
    *spends, last = bundle["coin_spends"]
    return {**bundle, "coin_spends": spends or [last]}


def _all_but_last(coins: Sequence[Any]) -> list[Any]:
    return list(coins[:-1])


def _lowest_rate(right: Any, estimates: Any, pool: Any) -> int:
    return 0 if not pool.is_full else right(estimates, pool)


def _in_turn(right: Any, nodes: Any, call: Any) -> Any:
    """Read another node with each call."""
    private = vars(nodes)
    private["_reads"] = (private["_reads"] + 1) % len(private["_nodes"])
    return right(nodes, call)


NODE_RPC = (
    Fault(
        "reads-no-solution",
        "chain",
        "the solution of a spend is not read from the node's answer",
        changing(RpcChain, "_with_solution", lambda seen: replace(seen, solution=None)),
    ),
    Fault(
        "reads-spent-as-unspent",
        "chain",
        "a spent coin is read as one that is there",
        changing(RpcChain, "_seen", lambda seen: replace(seen, spent=None)),
    ),
    Fault(
        "reads-spent-one-late",
        "chain",
        "a coin is read as spent one block later than it was",
        changing(RpcChain, "_seen", _spent_in_next_block),
    ),
    Fault(
        "reads-one-child-less",
        "chain",
        "the last of the coins that a spend created is left out",
        changing(RpcChain, "children", _all_but_last),
    ),
    Fault(
        "reads-children-backwards",
        "chain",
        "the coins that a spend created are not read in the order of their ids",
        changing(RpcChain, "children", lambda seen: seen[::-1]),
    ),
    Fault(
        "reads-one-pending-less",
        "chain",
        "the last of the bundles that are pending for a coin is left out",
        changing(RpcChain, "pending", _all_but_last),
    ),
    Fault(
        "reads-conflicts-as-early",
        "chain",
        "a push that conflicts with a pending bundle is read as one that is too early",
        changing(RpcChain, "push", _instead(Answer.PENDING_CONFLICT, Answer.TOO_EARLY)),
    ),
    Fault(
        "reads-early-as-conflicts",
        "chain",
        "a push that is too early is read as one that conflicts with a pending bundle",
        changing(RpcChain, "push", _instead(Answer.TOO_EARLY, Answer.PENDING_CONFLICT)),
    ),
    Fault(
        "reads-no-error-word",
        "chain",
        "the name of a refusal is not found in the node's sentence",
        compared(full_node, "_word", lambda right, error: line(error)),
    ),
    Fault(
        "reads-no-fee-rate",
        "chain",
        "the node's fee rate is read as 0 while its mempool is not full",
        compared(full_node, "asked_rate", _lowest_rate),
    ),
    Fault(
        "writes-one-spend-less",
        "chain",
        "the last spend of a bundle is not offered",
        changing(full_node, "bundle_json", _without_last_spend),
    ),
    Fault(
        "node-writes-no-fee",
        "chain",
        "the node's RPC says that a pending bundle pays nothing",
        changing(node_calls, "item_json", lambda item: {**item, "fee": 0}),
    ),
    Fault(
        "node-writes-births-one-late",
        "chain",
        "the node's RPC says that a coin was created one block later than it was",
        changing(
            node_calls,
            "record_json",
            lambda record: {**record, "confirmed_block_index": record["confirmed_block_index"] + 1},
        ),
    ),
    Fault(
        "node-writes-success-for-pending",
        "chain",
        "the node's RPC says that a bundle is pending which is kept for later only",
        changing(NodeCalls, "_call_push_tx", lambda answer: {"status": "SUCCESS"}),
    ),
    Fault(
        "node-writes-lower-tip",
        "chain",
        "the node's RPC names the block before the tip",
        changing(node_calls, "block_json", lambda block: {**block, "height": block["height"] - 1}),
    ),
    Fault(
        "node-writes-another-signature",
        "chain",
        "the node's RPC gives pending bundles another signature",
        changing(
            node_json,
            "bundle_json",
            lambda bundle: {**bundle, "aggregated_signature": "0xc0" + "00" * 95},
        ),
    ),
    Fault(
        "offers-to-one-node",
        "chain",
        "of several nodes, only the one that is read is offered a spend",
        compared(SeveralNodes, "_others", lambda right, nodes: []),
    ),
    Fault(
        "reads-nodes-in-turn",
        "chain",
        "of several nodes, each is read in turn, also within one look at the chain",
        function(SeveralNodes, "_read", _in_turn),
    ),
)
