"""The embedded full node: real validation of puzzles, signatures and time locks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias, assert_never

import msgspec
from chia_wallet_sdk import CoinRecord, FullNodeSimulator
from msgspec import Meta

from channelsim.channel.chain.coins import Bundle, Coin, Hash, Height
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.sdk import ANSWERS, coin_of, from_node, to_node
from channelsim.channel.errors import UsageError
from channelsim.games.amounts import counted

BLOCK_REWARD = 2_000_000_000_000
"""The block reward in mojos, paid in one coin."""


Blocks = Annotated[int, Meta(ge=1, le=100_000)]


class Pushed(msgspec.Struct, frozen=True, tag="push", forbid_unknown_fields=True):
    """A bundle was accepted into the mempool."""

    bundle: Bundle


class Farmed(msgspec.Struct, frozen=True, tag="farm", forbid_unknown_fields=True):
    """Blocks were made with the bundles of the mempool, up to this height."""

    blocks: Blocks
    peak: Height


class Reorganised(
    msgspec.Struct,
    frozen=True,
    tag="reorganise",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The last `back` blocks were replaced by `new` others, as `SimulatedChain.reorganise` does."""

    back: Blocks
    new: Blocks
    keep: bool
    bundle: Bundle | None = None


class Given(msgspec.Struct, frozen=True, tag="give", forbid_unknown_fields=True):
    """A block reward was paid to this address."""

    puzzle_hash: Hash


Change: TypeAlias = Pushed | Farmed | Reorganised | Given
"""A change of the chain or the mempool; the same ones make the same chain."""


class SimulatedChain:
    """`FullNodeSimulator` behind the interface of `channelsim.channel.chain`.

    The same seed gives the same blocks, coins and ids. `record` is called with every change, once
    it is done; bundles that came over the node's RPC are recorded with the block that has them.

    >>> SimulatedChain(1).peak()
    1
    """

    def __init__(self, seed: int) -> None:
        self._node = FullNodeSimulator.with_seed(seed)
        self._nobody = self._node.get_farming_ph()
        self._spent: dict[bytes, CoinSeen] = {}
        self.record: Callable[[Change], None] | None = None
        self._recorded: set[bytes] = set()

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

    def had(self, puzzle_hash: bytes) -> bool:
        """True if a coin was ever at this address, spent or not."""
        found = self._node.get_coin_records_by_puzzle_hash(puzzle_hash, include_spent_coins=True)
        return bool(found.coin_records)

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        response = self._node.push_tx(to_node(bundle))
        if response.success and response.status == "SUCCESS":
            self._record_push(bundle)
            return PushResult(Answer.ACCEPTED)
        # "Validation error: DoubleSpend", for example.
        error = (response.error or response.status or "no reason given").split(": ")[-1]
        return PushResult(ANSWERS.get(error, Answer.REFUSED), error)

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        found = self._node.get_coin_records_by_parent_ids(
            [coin_id], include_spent_coins=True
        ).coin_records
        return sorted((_seen(record) for record in found or []), key=lambda seen: seen.coin.id)

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
        if self.record is not None:
            self._record_block_of(blocks)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last `back` blocks by `new` others (more than `back`, to win).

        With `keep`, the bundles of the old blocks return to the mempool before the new blocks
        are made, and this `bundle` is offered beside them; otherwise they are lost, and have to be
        pushed again.
        """
        self._spent.clear()
        if keep:
            self._node.revert_blocks(back)
            if bundle is not None:
                self._node.push_tx(to_node(bundle))
            self._node.farm_block(new)
        else:
            # The node makes `back` blocks in place of the old ones, and these on top.
            self._node.reorg_blocks(back, new - back)
        if self.record is not None:
            self.record(Reorganised(back, new, keep, bundle))

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
        if self.record is not None:
            self.record(Given(puzzle_hash))
        # Rewards of a block are paid out with it; later blocks add none at this address.
        coins = [seen.coin for seen in self.coins_at(puzzle_hash)]
        return max(coins, key=lambda coin: (coin.amount, coin.id))

    # --- changes ---

    def repeat(self, change: Change) -> None:
        """Do a recorded change again. Raises `UsageError` if that is not possible here."""
        match change:
            case Pushed(bundle):
                result = self.push(bundle)
                if result.answer is not Answer.ACCEPTED:
                    raise UsageError(f"a bundle is {result.answer.value} ({result.error})")
            case Farmed(blocks, peak):
                if blocks > peak - self.peak():
                    raise UsageError(f"no block after {self.peak()} has height {peak}")
                self.farm(blocks)
                if self.peak() != peak:
                    raise UsageError(f"block {self.peak()} where {peak} is expected")
            case Reorganised(back, new, keep, bundle):
                if not back < min(new, self.peak()):
                    raise UsageError(
                        f"{counted(back, 'block')} before {self.peak()} cannot be replaced"
                    )
                self.reorganise(back, new, keep=keep, bundle=bundle)
            case Given(puzzle_hash):
                self.give(puzzle_hash, 0)
            case _:
                assert_never(change)

    def _record_push(self, bundle: Bundle) -> None:
        if self.record is not None:
            self.record(Pushed(bundle))
            self._recorded.update(spend.coin.id for spend in bundle.spends)

    def _record_block_of(self, blocks: int) -> None:
        """Record new blocks, and before them the bundles that came over the RPC.

        A block does not have the signatures of its bundles, but the mempool does: so a block with
        bundles that are not recorded is taken back for a moment. All are in the first new block.
        """
        while missing := self._unrecorded(blocks):
            self._node.revert_blocks(blocks)
            self._spent.clear()
            for coin_id in missing:
                for bundle in self.pending(coin_id):
                    if not self._recorded.issuperset(spend.coin.id for spend in bundle.spends):
                        self._record_push(bundle)
            self._node.farm_block(blocks)
        self._recorded.clear()
        if self.record is not None:
            self.record(Farmed(blocks, self.peak()))

    def _unrecorded(self, blocks: int) -> list[bytes]:
        """The coins that the last blocks spend by bundles that are not recorded."""
        found = []
        for height in range(self.peak() - blocks + 1, self.peak() + 1):
            header = self._node.header_hash_of(height)
            spends = self._node.get_block_spends(header).block_spends if header else None
            found += [coin_of(spend.coin).id for spend in spends or []]
        return [coin_id for coin_id in found if coin_id not in self._recorded]


def _seen(record: CoinRecord) -> CoinSeen:
    spent = record.spent_block_index if record.spent else None
    return CoinSeen(coin_of(record.coin), record.confirmed_block_index, spent)
