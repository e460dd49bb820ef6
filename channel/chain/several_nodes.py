"""Several full nodes of one network as one chain: one of them is read, all of them are pushed to.

All that a look at the chain sees comes from one node, which is read until it fails. So nodes that
contradict each other do not take turns: a change of the node is seen as a reorganisation at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import Self, TypeVar

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import NodeError, NodeSyncing, RpcChain
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import CoinSeen

T = TypeVar("T")


class SeveralNodes:
    """One node or more. Every method raises `NodeError`, `peak` only if no node can be read.

    `peak` begins a look at the chain, and alone chooses the node: the one that was read before, or
    else the next that answers and is synced. Close it, or use it in a `with`.
    """

    def __init__(self, nodes: Sequence[RpcChain]) -> None:
        self._nodes = tuple(nodes)
        self._reads = 0
        self._failed = True
        self._network: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections to all nodes."""
        for node in self._nodes:
            node.close()

    def peak(self) -> int:
        """The height of the tip."""
        self._failed = True
        self._reads, peak = self._first_answer(self._peak_of)
        self._failed = False
        return peak

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on the network of the first node that answers."""
        if self._network is not None:
            return self._network
        _, network = self._first_answer(RpcChain.agg_sig_data)
        self._network = network
        return network

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        return self._read(lambda node: node.coin(coin_id))

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return self._read(lambda node: node.coins_at(puzzle_hash))

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        return self._read(lambda node: node.children(coin_id))

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to all nodes. The answer is that of the node that is read."""
        if self._failed:
            self.peak()
        for node in self._nodes:
            if node is not self._nodes[self._reads]:
                # Apart, so that no node keeps another one waiting.
                Thread(target=_offer, args=(node, bundle), daemon=True).start()
        return self._read(lambda node: node.push(bundle))

    def pending(self, coin_id: bytes) -> list[Bundle]:
        """The bundles in the mempool that spend this coin."""
        return self._read(lambda node: node.pending(coin_id))

    def _peak_of(self, node: RpcChain) -> int:
        peak, network = node.peak(), node.agg_sig_data()
        if self._network is None:
            self._network = network
        if network != self._network:
            raise NodeError(f"{node} is on another network than the first that answered")
        return peak

    def _read(self, call: Callable[[RpcChain], T]) -> T:
        """Ask the node of this look. If it fails, the next look begins with the node after it."""
        if self._failed:
            self.peak()
        try:
            return call(self._nodes[self._reads])
        except NodeError:
            self._reads = (self._reads + 1) % len(self._nodes)
            self._failed = True
            raise

    def _first_answer(self, call: Callable[[RpcChain], T]) -> tuple[int, T]:
        """The first node that has an answer, and the answer."""
        errors: list[NodeError] = []
        for turn in range(len(self._nodes)):
            index = (self._reads + turn) % len(self._nodes)
            try:
                return index, call(self._nodes[index])
            except NodeError as error:
                errors.append(error)
        kind = NodeSyncing if any(isinstance(one, NodeSyncing) for one in errors) else NodeError
        raise kind("; ".join(map(str, errors)))


def _offer(node: RpcChain, bundle: Bundle) -> None:
    with suppress(NodeError):
        node.push(bundle)
