"""A chain as one immutable value: coins, and the order of blocks, without headers or a mempool.

Puzzles run for real, and time locks are those of the embedded node; a test runs both side by side.
What gets into a block is not decided here: the caller names the bundles of each block, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from chia_rs import CoinRecord, check_time_locks
from chia_rs.sized_bytes import bytes32
from chia_rs.sized_ints import uint32, uint64

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.ledger import seconds_at
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.validation import ValidBundle, checked, name_of_bundle, node_coin
from channelsim.channel.crypto import bls

MOST_KNOWN = 1 << 14
"""Bundles whose puzzles are not run again."""


@dataclass(frozen=True, slots=True, eq=False)
class SmallChain:
    """The coins of a chain of this height, by id; `before` is the chain without its last block.

    Every block carries transactions. Only one block can be taken back. `known` is what was worked
    out about it.
    """

    height: int
    data: bytes
    coins: Mapping[bytes, CoinSeen]
    before: SmallChain | None = field(default=None, repr=False)
    known: dict[object, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, height: int, data: bytes, coins: Iterable[CoinSeen]) -> SmallChain:
        """A chain with these coins; `data` is the suffix of AGG_SIG_ME messages."""
        return cls(height, data, {seen.coin.id: seen for seen in coins})

    # --- looking, as promises and drivers do ---

    def peak(self) -> int:
        """The height of the tip."""
        return self.height

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages."""
        return self.data

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        return self.coins.get(coin_id)

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        coins = self.coins.values()
        return [one for one in coins if one.spent is None and one.coin.puzzle_hash == puzzle_hash]

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        coins = [seen for seen in self.coins.values() if seen.coin.parent == coin_id]
        bare = [CoinSeen(seen.coin, seen.born, seen.spent) for seen in coins]
        return sorted(bare, key=lambda seen: seen.coin.id)

    # --- growing ---

    def with_block(self, bundles: Iterable[Bundle]) -> SmallChain:
        """The chain with one more block, which has these bundles as far as they can be in it."""
        coins, height, made = dict(self.coins), self.height + 1, set[bytes]()
        for bundle in bundles:
            valid = self.admitted(bundle)
            if valid is None or any(
                # Another bundle of the block may have spent the coin, or made it.
                coin_id in coins and (coins[coin_id].spent is not None or coin_id in made)
                for coin_id in valid.spends
            ):
                continue
            for spend in valid.spends.values():
                for coin, _ in spend.made:
                    coins[coin.id] = CoinSeen(coin, height, None)
                    made.add(coin.id)
            for coin_id, spend in valid.spends.items():
                seen = coins[coin_id]
                coins[coin_id] = CoinSeen(seen.coin, seen.born, height, spend.spend.solution)
        return SmallChain(height, self.data, coins, replace(self, before=None))

    def admitted(self, bundle: Bundle) -> ValidBundle | None:
        """The bundle, if the next block can have it; None if not."""
        valid = _validated(bundle, self.data)
        if valid is None:
            return None
        records = {}
        made = {coin.id for spend in valid.spends.values() for coin, _ in spend.made}
        for coin_id, spend in valid.spends.items():
            seen = self.coins.get(coin_id)
            if coin_id in made:
                seen = CoinSeen(spend.spend.coin, self.height + 1, None)
            if seen is None or seen.spent is not None:
                return None
            records[bytes32(coin_id)] = _record(seen, self.height if coin_id in made else None)
        seconds = uint64(seconds_at(self.height))
        locked = check_time_locks(records, valid.conditions, uint32(self.height), seconds, False)
        return None if locked is not None else valid


def _record(seen: CoinSeen, tip: int | None) -> CoinRecord:
    """The record of an unspent coin; one that the block itself makes has the time of the tip."""
    seconds = uint64(seconds_at(seen.born if tip is None else tip))
    return CoinRecord(node_coin(seen.coin), uint32(seen.born), uint32(0), False, seconds)


def _validated(bundle: Bundle, data: bytes) -> ValidBundle | None:
    """The bundle with what its puzzles give; None if it is invalid. Worked out once."""
    return _known(_Named(name_of_bundle(bundle), bundle, data, bls.stand_in() is None))


@dataclass(frozen=True, slots=True)
class _Named:
    """A bundle by its id: a signature is right for one scheme only."""

    name: bytes
    bundle: Bundle = field(compare=False)
    data: bytes
    is_real: bool


@lru_cache(maxsize=MOST_KNOWN)
def _known(named: _Named) -> ValidBundle | None:
    return checked(named.bundle, named.data)


def spent_by(bundle: Bundle) -> Iterator[Coin]:
    """The coins that a bundle spends."""
    return (spend.coin for spend in bundle.spends)
