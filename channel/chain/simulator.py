"""The embedded full node: real validation of puzzles, signatures and time locks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chia_wallet_sdk import CoinRecord, FullNodeSimulator

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.sdk import ANSWERS, coin_of, from_node, to_node
from channelsim.channel.errors import UsageError
from channelsim.games.amounts import counted

BLOCK_REWARD = 2_000_000_000_000
"""The block reward in mojos, paid in one coin."""


class SimulatedChain:
    """`FullNodeSimulator` behind the interface of `channelsim.channel.chain`.

    The same seed gives the same blocks, coins and ids.

    >>> SimulatedChain(1).peak()
    1
    """

    def __init__(self, seed: int) -> None:
        self._node = FullNodeSimulator.with_seed(seed)
        self._nobody = self._node.get_farming_ph()
        self._spent: dict[bytes, CoinSeen] = {}

    def peak(self) -> int:
        """The height of the tip."""
        return int(self._node.height())

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        return bytes(self._node.get_aggsig_additional_data())

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        if coin_id in self._spent:
            return self._spent[coin_id]
        record = self._node.get_coin_record_by_name(coin_id).coin_record
        if record is None:
            return None
        seen = _seen(record)
        if seen.spent is None:
            return seen
        spend = self._node.get_puzzle_and_solution(coin_id, seen.spent).coin_solution
        solution = bytes(spend.solution) if spend else None
        # Only a reorganisation can change a coin that is spent.
        self._spent[coin_id] = CoinSeen(seen.coin, seen.born, seen.spent, solution)
        return self._spent[coin_id]

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        found = self._node.get_coin_records_by_puzzle_hash(
            puzzle_hash, include_spent_coins=False
        ).coin_records
        return [_seen(record) for record in found or []]

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        response = self._node.push_tx(to_node(bundle))
        if response.success and response.status == "SUCCESS":
            return PushResult(Answer.ACCEPTED)
        # "Validation error: DoubleSpend", for example.
        error = (response.error or response.status or "no reason given").split(": ")[-1]
        return PushResult(ANSWERS.get(error, Answer.REFUSED), error)

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created."""
        found = self._node.get_coin_records_by_parent_ids(
            [coin_id], include_spent_coins=True
        ).coin_records
        return [_seen(record) for record in found or []]

    def pending(self, coin_id: bytes) -> list[Bundle]:
        """The bundles in the mempool that spend this coin."""
        items = self._node.get_mempool_items_by_coin_name(coin_id).mempool_items
        return [from_node(item.spend_bundle) for item in items or []]

    def pending_count(self) -> int:
        """The number of bundles in the mempool."""
        state = self._node.get_blockchain_state().blockchain_state
        return int(state.mempool_size) if state is not None else 0

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve the node's RPC on this machine during the block; yields its URL."""

        async def start() -> Any:
            return await self._node.start_server()

        server = asyncio.run(start())
        try:
            yield str(server.url)
        finally:
            server.close()

    def farm(self, blocks: int = 1) -> None:
        """Make blocks with the bundles of the mempool."""
        self._node.farm_block(blocks)

    def reorganise(self, back: int, new: int, *, keep: bool) -> None:
        """Replace the last `back` blocks by `new` others (more than `back`, to win).

        With `keep`, the bundles of the old blocks return to the mempool before the new blocks
        are made; otherwise they are lost, and have to be pushed again.
        """
        self._spent.clear()
        if keep:
            self._node.revert_blocks(back)
            self._node.farm_block(new)
        else:
            # The node makes `back` blocks in place of the old ones, and these on top.
            self._node.reorg_blocks(back, new - back)

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A block reward of at least `amount` mojos at this address."""
        if amount > BLOCK_REWARD:
            raise UsageError(
                f"{counted(amount, 'mojo')}: a wallet coin of the embedded node holds less"
                f" ({BLOCK_REWARD}): use a smaller unit, stack or balance"
            )
        self._node.set_farming_ph(puzzle_hash)
        self._node.farm_block(1)
        self._node.set_farming_ph(self._nobody)
        # Rewards of a block are paid out with it; later blocks add none at this address.
        coins = [seen.coin for seen in self.coins_at(puzzle_hash)]
        return max(coins, key=lambda coin: (coin.amount, coin.id))


def _seen(record: CoinRecord) -> CoinSeen:
    spent = record.spent_block_index if record.spent else None
    return CoinSeen(coin_of(record.coin), record.confirmed_block_index, spent)
