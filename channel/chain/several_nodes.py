"""Several full nodes of one network as one chain: one of them is read, all of them are pushed to.

All that a look at the chain sees comes from one node, which is read until it fails. So nodes that
contradict each other do not take turns: a change of the node is seen as a reorganisation at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from time import monotonic
from typing import Self, TypeVar

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import NodeError, NodeSyncing, RpcChain
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import CoinSeen, PendingBundle

T = TypeVar("T")

IN_TIME = 5.0
"""Seconds in which the nodes that are not read must answer a question to all of them."""

Start = Callable[[Callable[[], None]], Callable[[float], object]]
"""Starts some work beside others; the result waits for it, at most so many seconds."""


def in_thread(work: Callable[[], None]) -> Callable[[float], object]:
    """Start work in a thread of its own, which keeps no process from ending."""
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread.join


class SeveralNodes:
    """One node or more. Every method raises `NodeError`, `peak` only if no node can be read.

    `peak` begins a look at the chain, and alone chooses the node: the one that was read before, or
    else the next that answers and is synced. Close it, or use it in a `with`. `start` starts what
    is asked of several nodes at once.
    """

    def __init__(self, nodes: Sequence[RpcChain], start: Start = in_thread) -> None:
        self._nodes = tuple(nodes)
        self._start = start
        self._reads = 0
        self._failed = True
        self._network: bytes | None = None
        self._asking: set[RpcChain] = set()

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
        for node in self._others():
            # Apart, so that no node keeps another one waiting.
            self._start(partial(_offer, node, bundle))
        return self._read(lambda node: node.push(bundle))

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles that spend this coin, in the mempool of any node that answers in time.

        The one that is read must answer, and says first what fee and cost a bundle has.
        """
        others = self._asked(self._others(), lambda node: node.pending(coin_id))
        found = self._read(lambda node: node.pending(coin_id))
        for pending in others():
            found += pending
        return list({one.bundle: one for one in reversed(found)}.values())[::-1]

    def fee_rate(self) -> int:
        """The highest fee rate of the nodes that answer in time, in mojos per cost."""
        errors: list[NodeError] = []
        rates = self._asked(self._nodes, lambda node: node.fee_rate(), errors)()
        if rates:
            return max(rates)
        reasons = "; ".join(map(str, errors)) or "no node says in time what fee rate it asks"
        raise NodeError(reasons)

    def _others(self) -> list[RpcChain]:
        return [node for node in self._nodes if node is not self._nodes[self._reads]]

    def _asked(
        self,
        nodes: Sequence[RpcChain],
        call: Callable[[RpcChain], T],
        errors: list[NodeError] | None = None,
    ) -> Callable[[], list[T]]:
        """Ask nodes at once, in a thread each; the result gives the answers that are in time.

        A node that still owes the answer to such a question is not asked.
        """
        answers: dict[int, T] = {}
        waits: list[Callable[[float], object]] = []

        def ask(index: int, node: RpcChain) -> None:
            try:
                answers[index] = call(node)
            except NodeError as error:
                if errors is not None:
                    errors.append(error)
            finally:
                self._asking.discard(node)

        for index, node in enumerate(nodes):
            if node not in self._asking:
                self._asking.add(node)
                waits.append(self._start(partial(ask, index, node)))
        until = monotonic() + IN_TIME

        def wait() -> list[T]:
            for wait_for in waits:
                wait_for(max(0.0, until - monotonic()))
            # One that is late may still add its answer to the others.
            return [answer for _, answer in sorted(answers.copy().items(), key=lambda one: one[0])]

        return wait

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
