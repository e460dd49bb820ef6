"""Nodes that are asked by their RPC, whose answers are compared with what they have.

Requests and answers are those bytes that a socket would carry, so what a client reads follows from
the same code as on a real node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import msgspec
from chia_rs import ConsensusConstants
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import NodeError, RpcChain
from channelsim.channel.chain.interface import Answer, Chain, PushResult
from channelsim.channel.chain.ledger import Ledger
from channelsim.channel.chain.mempool import Mempool, Outcome
from channelsim.channel.chain.node_calls import NO_MORE, NodeCalls
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.several_nodes import SeveralNodes
from channelsim.channel.chain.simulator import SimulatedChain, answer_to
from channelsim.clsp.values import MAX_BYTES
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance

T = TypeVar("T")

OF_A_LOOK = {
    "get_coin_record_by_name",
    "get_puzzle_and_solution",
    "get_coin_records_by_puzzle_hash",
    "get_coin_records_by_parent_ids",
}
"""The calls whose answers belong together."""

WAITING = {Answer.PENDING_CONFLICT, Answer.TOO_EARLY}
"""The answers that a node has one word for: its client asks what is pending."""


FAILING, AWAY, LONGEST = 300, 3, 8
"""Calls in which nodes may fail, the per cent of those after which one is away, and the most calls
for which it is."""


class RpcNode:
    """The RPC of an embedded `node`, by so many URLs; `found` takes a line about a wrong reading.

    Where there are several, one is away at times, as `chance` draws. The fee rate is that of the
    `chain` around the node, if there is one: its market has another.
    """

    def __init__(
        self,
        node: SimulatedChain,
        chain: Chain,
        number: int,
        chance: Chance,
        found: Callable[[str], None],
    ) -> None:
        self._node = node
        self._chain = chain
        self._chance = chance
        self._found = found
        self._noted = _NotedOffers(node)
        self._calls = NodeCalls(self._noted, NO_MORE)
        self._asked = 0
        self._away: tuple[int, int] = 0, 0
        self._read: int | None = None
        self._offered: set[int] = set()
        self._number = number
        self._client = SeveralNodes(
            [
                RpcChain(f"http://embedded-{index}", answered=partial(self._answer, index))
                for index in range(number)
            ],
            at_once,
        )

    def peak(self) -> int:
        """The height of the tip."""
        return self._same("the tip", self._client.peak(), self._node.peak())

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        data = self._client.agg_sig_data()
        return self._same("the network", data, self._node.agg_sig_data())

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        seen = self._node.coin(coin_id)
        if seen is not None and len(seen.solution or b"") > MAX_BYTES:
            seen = replace(seen, solution=None)
        return self._same("a coin", self._client.coin(coin_id), seen)

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        seen = self._node.coins_at(puzzle_hash)
        return self._same("the coins at an address", self._client.coins_at(puzzle_hash), seen)

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        seen = self._node.children(coin_id)
        return self._same("the coins of a spend", self._client.children(coin_id), seen)

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        self._offered.clear()
        self._noted.newest = None
        result = self._client.push(bundle)
        if len(self._offered) < self._number:
            many = counted(self._number, "node")
            self._found(f"offers a bundle to {len(self._offered)} of {many}")
        offered, outcome = self._noted.newest or (None, None)
        self._same("what is offered", offered, bundle)
        due = result if outcome is None else answer_to(outcome)
        if due.answer in WAITING:
            conflicts = any(self._node.pending(spend.coin.id) for spend in bundle.spends)
            waits = Answer.PENDING_CONFLICT if conflicts else Answer.TOO_EARLY
            self._same("why a push waits", result.answer, waits)
        else:
            self._same("the answer to a push", result, due)
        return result

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        pending = self._node.pending(coin_id)
        return self._same("what is pending", self._client.pending(coin_id), pending)

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        rate = self._same("the fee rate", self._client.fee_rate(), self._node.fee_rate())
        return rate if self._chain is self._node else self._chain.fee_rate()

    def _same(self, about: str, read: T, due: object) -> T:
        """The value that was read, which should be the one that is due."""
        if read != due:
            self._found(f"reads {about} as {read!r:.200}, not as {due!r:.200}")
        return read

    def _answer(self, index: int, call: str, arguments: bytes) -> bytes:
        """The answer of a node to a call, in JSON."""
        if call == "push_tx":
            self._offered.add(index)
        if self._is_away(index):
            raise NodeError(f"the node {index} is away")
        if call == "get_blockchain_state":
            self._read = index
        elif call in OF_A_LOOK and index != self._read:
            self._found(f"asks node {index} in a look at the chain of node {self._read}")
        answer = self._calls(call, msgspec.json.decode(arguments))
        if answer is None:
            raise NodeError(f"the node has no call {call}")
        return answer

    def _is_away(self, index: int) -> bool:
        """True if a node does not answer this call; another one does then."""
        self._asked += 1
        if self._number > 1 and self._asked < FAILING and self._chance.chance(AWAY):
            until = self._asked + self._chance.between(1, LONGEST)
            self._away = self._chance.below(self._number), until
        away, until = self._away
        return index == away and self._asked < until


def at_once(work: Callable[[], None]) -> Callable[[float], object]:
    """Do work at once: nothing is left to wait for."""
    work()
    return lambda seconds: None


class _NotedOffers:
    """An embedded node that notes what is offered to it, and what becomes of that."""

    def __init__(self, node: SimulatedChain) -> None:
        self._node = node
        self.lock = node.lock
        self.newest: tuple[Bundle, Outcome] | None = None

    @property
    def ledger(self) -> Ledger:
        """The chain."""
        return self._node.ledger

    @property
    def mempool(self) -> Mempool:
        """The mempool."""
        return self._node.mempool

    @property
    def constants(self) -> ConsensusConstants:
        """The constants of the network."""
        return self._node.constants

    def offer(self, bundle: Bundle) -> Outcome:
        """Offer a bundle to the mempool; all nodes give the answer of the first one."""
        offered, outcome = self.newest or (None, None)
        if outcome is None or offered != bundle:
            outcome = self._node.offer(bundle)
            self.newest = bundle, outcome
        return outcome
