"""The blocks and coins of an embedded chain: what was made and spent at which height.

The wallet SDK's node makes the headers and the rewards of the blocks, without their transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from chia_rs import CoinRecord
from chia_rs.sized_ints import uint32, uint64
from chia_wallet_sdk import BlockRecord, FullNodeSimulator
from chia_wallet_sdk import Coin as HeaderCoin

from channelsim.channel.chain.coins import Coin, Spend
from channelsim.channel.chain.constants import BLOCK_SECONDS
from channelsim.channel.chain.mempool_items import Item, Tip, unique_spends
from channelsim.channel.chain.validation import node_coin
from channelsim.channel.errors import InvariantError

FIRST_SECOND = 1_700_000_000
"""The time of the first block."""

ONE_IN = 3
"""Of so many blocks one carries transactions, on a chain with blocks that carry none."""

MOST_GAP = 10
"""The most blocks from one with transactions to the next."""


@dataclass(slots=True, eq=False)
class Record:
    """A coin of the chain. `spent` is None until its `spend` is in a block."""

    coin: Coin
    born: int
    hint: bytes | None = None
    reward: bool = False
    spent: int | None = None
    spend: Spend | None = None


@dataclass(slots=True, eq=False)
class Block:
    """A block, the last block with transactions before it, and its own transactions."""

    height: int
    carries: bool
    before: int
    items: tuple[Item, ...] = ()
    spent: list[bytes] = field(default_factory=list)
    made: list[bytes] = field(default_factory=list)


def seconds_at(height: int) -> int:
    """The time of the block at this height."""
    return FIRST_SECOND + BLOCK_SECONDS * height


class Ledger:
    """The chain of one node. The first block has height 1.

    Every block carries transactions; with `mixed`, about one of three does, by the seed.
    """

    def __init__(self, seed: int, *, mixed: bool = False) -> None:
        self._headers = FullNodeSimulator.with_seed(seed)
        self._nobody = self._headers.get_farming_ph()
        self.genesis_challenge = bytes(self._headers.get_aggsig_additional_data())
        self._mix = f"transaction blocks/{seed}" if mixed else None
        self._forks = 0
        self.headers_made = 1
        self._blocks = [Block(1, True, 0)]
        self._records: dict[bytes, Record] = {}
        self._by_puzzle_hash: dict[bytes, list[Record]] = {}
        self._by_parent: dict[bytes, list[Record]] = {}
        self._by_hint: dict[bytes, list[Record]] = {}

    # --- looking ---

    @property
    def height(self) -> int:
        """The height of the tip."""
        return len(self._blocks)

    @property
    def tip(self) -> Tip:
        """The last block with transactions."""
        height = self._last_carrying
        return Tip(height, seconds_at(height))

    @property
    def _last_carrying(self) -> int:
        last = self._blocks[-1]
        return last.height if last.carries else last.before

    def next_carries(self) -> bool:
        """True if the next block carries transactions."""
        if self._mix is None:
            return True
        height = len(self._blocks) + 1
        if height - self._last_carrying >= MOST_GAP:
            return True
        # Another fork has others.
        drawn = sha256(f"{self._mix}/{self._forks}/{height}".encode()).digest()
        return drawn[0] % ONE_IN == 0

    def block(self, height: int) -> Block | None:
        """The block at this height."""
        return self._blocks[height - 1] if 1 <= height <= len(self._blocks) else None

    def header(self, height: int) -> BlockRecord:
        """The header of the block at this height."""
        record = self._headers.get_block_record_by_height(height).block_record
        if record is None:
            raise InvariantError(f"no header at height {height}")
        return record

    def header_hash(self, height: int) -> bytes:
        """The hash of the header at this height."""
        return bytes(self.header(height).header_hash)

    def height_of(self, header_hash: bytes) -> int | None:
        """The height of the block with this header."""
        record = self._headers.get_block_record(header_hash).block_record
        return None if record is None else int(record.height)

    def record(self, coin_id: bytes) -> Record | None:
        """The record of a coin, if the chain has it."""
        return self._records.get(coin_id)

    def at(self, puzzle_hash: bytes) -> list[Record]:
        """The coins at an address, in the order in which they were made."""
        return self._by_puzzle_hash.get(puzzle_hash, [])

    def children(self, coin_id: bytes) -> list[Record]:
        """The coins that this coin's spend created."""
        return self._by_parent.get(coin_id, [])

    def hinted(self, hint: bytes) -> list[Record]:
        """The coins that were made with this hint."""
        return self._by_hint.get(hint, [])

    def find(self, coin_id: bytes) -> CoinRecord | None:
        """The record of a coin, as the consensus library takes it."""
        record = self._records.get(coin_id)
        if record is None:
            return None
        born, spent = uint32(record.born), uint32(record.spent or 0)
        seconds = uint64(seconds_at(record.born))
        return CoinRecord(node_coin(record.coin), born, spent, record.reward, seconds)

    # --- growing ---

    def add_empty(self, blocks: int) -> None:
        """Add blocks in which nothing is spent."""
        self._headers.farm_block(blocks)
        self.headers_made += blocks
        self._append_empty(blocks)

    def _append_empty(self, blocks: int) -> None:
        for _ in range(blocks):
            carries = self.next_carries()
            self._blocks.append(Block(len(self._blocks) + 1, carries, self._last_carrying))

    def add(self, items: Iterable[Item], *, reward: bytes | None = None) -> Block:
        """Add a block that carries these bundles, and pays its reward to this address."""
        if reward is not None:
            self._headers.set_farming_ph(reward)
        self._headers.farm_block(1)
        self.headers_made += 1
        block = Block(len(self._blocks) + 1, True, self._last_carrying, tuple(items))
        self._blocks.append(block)
        if reward is not None:
            self._headers.set_farming_ph(self._nobody)
            self._make_reward(block)
        if block.items:
            self._apply(block)
        return block

    def _make_reward(self, block: Block) -> None:
        for coin in self.header(block.height).reward_claims_incorporated or []:
            self._make(block, _coin(coin), None, reward=True)

    def _apply(self, block: Block) -> None:
        spends = unique_spends(block.items)
        for spend in spends.values():
            for coin, hint in spend.made:
                self._make(block, coin, hint)
        for coin_id, spend in spends.items():
            record = self._records.get(coin_id)
            if record is None or record.spent is not None:
                raise InvariantError(f"a block spends {coin_id.hex()}, which cannot be spent")
            record.spent, record.spend = block.height, spend.spend
            block.spent.append(coin_id)

    def _make(self, block: Block, coin: Coin, hint: bytes | None, *, reward: bool = False) -> None:
        record = Record(coin, block.height, hint, reward)
        self._records[coin.id] = record
        for index, key in self._indexes(record):
            index.setdefault(key, []).append(record)
        block.made.append(coin.id)

    def _indexes(self, record: Record) -> Iterator[tuple[dict[bytes, list[Record]], bytes]]:
        yield self._by_puzzle_hash, record.coin.puzzle_hash
        yield self._by_parent, record.coin.parent
        if record.hint is not None:
            yield self._by_hint, record.hint

    # --- going back ---

    def revert(self, back: int) -> list[Block]:
        """Take the last blocks back; returns them, the oldest first."""
        self._headers.revert_blocks(back)
        return self._undo(back)

    def replace(self, back: int, new: int) -> list[Block]:
        """Replace the last blocks by more, in which nothing is spent; returns the old ones."""
        self._headers.reorg_blocks(back, new - back)
        self.headers_made += new
        old = self._undo(back)
        self._append_empty(new)
        return old

    def skip(self, headers: int) -> None:
        """Never make the next headers: the blocks from now on are others."""
        if headers:
            self._headers.farm_block(headers)
            self._headers.revert_blocks(headers)
            self.headers_made += headers
            self._forks += headers

    def _undo(self, back: int) -> list[Block]:
        self._forks += 1
        kept = len(self._blocks) - back
        old = self._blocks[kept:]
        del self._blocks[kept:]
        for block in reversed(old):
            for coin_id in block.spent:
                record = self._records[coin_id]
                record.spent = record.spend = None
            for coin_id in block.made:
                record = self._records.pop(coin_id)
                for index, key in self._indexes(record):
                    index[key].remove(record)
                    if not index[key]:
                        del index[key]
        return old


def _coin(coin: HeaderCoin) -> Coin:
    return Coin(bytes(coin.parent_coin_info), bytes(coin.puzzle_hash), int(coin.amount))
