"""Bundles as a mempool holds them: their locks and rates, and which of them may replace others.

Each rule names its place in the reference node, chia-blockchain 2.7.5 (`manager` is
chia/full_node/mempool_manager.py, `caches` chia/full_node/pending_tx_cache.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from chia_rs import CoinRecord

from channelsim.channel.chain.constants import BLOCK_COST, COST_PER_BYTE, POOL_BLOCKS
from channelsim.channel.chain.validation import ValidBundle, ValidSpend

OVERHEAD = 2 * COST_PER_BYTE + 20
"""The cost of a block without spends. Reference: `BLOCK_OVERHEAD` in manager, `__init__`."""

LEAST_RAISE = 10_000_000
"""Mojos that a replacement pays more. Reference: manager, `MEMPOOL_MIN_FEE_INCREASE`."""

SPEND_PENALTY = 500_000
"""Cost that a spend adds when bundles are ordered. Reference: chia/types/mempool_item.py."""

MOST_KEPT = 1000
"""Bundles kept for later, of each kind. Reference: manager, `__init__`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The cost of a block and of the whole pool."""

    block_cost: int = BLOCK_COST
    pool_cost: int = BLOCK_COST * POOL_BLOCKS

    @property
    def room(self) -> int:
        """The cost of a block that spends can use."""
        return self.block_cost - OVERHEAD


@dataclass(frozen=True, slots=True)
class Tip:
    """The last block with transactions, which locks are compared with."""

    height: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Locks:
    """When a bundle can be mined, by its tightest locks; None where it has none.

    Reference: manager, `compute_assert_height`.
    """

    from_height: int
    before_height: int | None
    from_seconds: int
    before_seconds: int | None

    @property
    def impossible(self) -> str:
        """The name of the pair of locks that never hold together."""
        if self.before_height is not None and self.before_height <= self.from_height:
            return "IMPOSSIBLE_HEIGHT_ABSOLUTE_CONSTRAINTS"
        if self.before_seconds is not None and self.before_seconds <= self.from_seconds:
            return "IMPOSSIBLE_SECONDS_ABSOLUTE_CONSTRAINTS"
        return ""


@dataclass(frozen=True, eq=False)
class Item:
    """A bundle in the mempool, the locks that it has there, and the height at which it came."""

    valid: ValidBundle
    locks: Locks
    since: int

    @cached_property
    def name(self) -> bytes:
        """The bundle's id."""
        return self.valid.name

    @cached_property
    def cost(self) -> int:
        """The bundle's cost."""
        return self.valid.cost

    @cached_property
    def fee(self) -> int:
        """The mojos that it leaves over."""
        return self.valid.fee

    @cached_property
    def rate(self) -> float:
        """Mojos per cost, by which replacements are judged."""
        return self.fee / self.cost

    @cached_property
    def priority(self) -> float:
        """Mojos per cost and spend, by which bundles are mined and evicted."""
        return self.fee / (self.cost + len(self.valid.spends) * SPEND_PENALTY)

    def ends_before(self, height: int, seconds: int) -> bool:
        """True if it can be mined only before this height, or time."""
        locks = self.locks
        return (locks.before_height is not None and locks.before_height < height) or (
            locks.before_seconds is not None and locks.before_seconds < seconds
        )


class DeferredBundles:
    """Bundles that are kept for later, up to a block's cost. Reference: caches."""

    def __init__(self, most_cost: int) -> None:
        self._most_cost = most_cost
        self._items: dict[bytes, Item] = {}
        self._cost = 0

    def __len__(self) -> int:
        return len(self._items)

    def get(self, name: bytes) -> Item | None:
        """The bundle with this id."""
        return self._items.get(name)

    def add(self, item: Item, order: Callable[[Item], int]) -> None:
        """Keep a bundle; those that are the least by `order`, the oldest first, make room."""
        if item.name in self._items:
            return
        self._items[item.name] = item
        self._cost += item.cost
        while self._cost > self._most_cost or len(self._items) > MOST_KEPT:
            self._drop(min(self._items.values(), key=order))

    def take(self, wanted: Callable[[Item], bool]) -> list[Item]:
        """Remove the bundles that are wanted, in the order in which they came."""
        taken = [item for item in self._items.values() if wanted(item)]
        for item in taken:
            self._drop(item)
        return taken

    def _drop(self, item: Item) -> None:
        del self._items[item.name]
        self._cost -= item.cost


def by_priority(items: Iterable[Item]) -> list[Item]:
    """Bundles in the order in which they are mined: the best paid first, then the oldest."""
    return sorted(items, key=lambda item: -item.priority)


def can_replace(conflicts: list[Item], item: Item) -> bool:
    """True if a bundle may take the place of these. Reference: manager, `can_replace`."""
    spends = item.valid.spends
    fees = sum(other.fee for other in conflicts)
    cost = sum(other.cost for other in conflicts)
    locks = [other.locks for other in conflicts]
    replaced = [pair for other in conflicts for pair in other.valid.spends.items()]
    return (
        all(coin_id in spends for coin_id, _ in replaced)
        and item.rate > fees / cost
        and item.fee - fees >= LEAST_RAISE
        and item.locks.from_height == max(one.from_height for one in locks)
        and item.locks.before_height == _least(one.before_height for one in locks)
        and item.locks.before_seconds == _least(one.before_seconds for one in locks)
        and all(spends[coin_id].repeatable for coin_id, spend in replaced if spend.repeatable)
    )


def locks_of(valid: ValidBundle, records: dict[bytes, CoinRecord]) -> Locks:
    """The tightest locks of a bundle. Reference: manager, `compute_assert_height`."""
    found = valid.conditions
    from_height, from_seconds = [found.height_absolute], [found.seconds_absolute]
    before_height, before_seconds = [found.before_height_absolute], [found.before_seconds_absolute]
    for spend in found.spends:
        record = records[bytes(spend.coin_id)]
        born, at = record.confirmed_block_index, record.timestamp
        if spend.height_relative is not None:
            from_height.append(born + spend.height_relative)
        if spend.seconds_relative is not None:
            from_seconds.append(at + spend.seconds_relative)
        if spend.before_height_relative is not None:
            before_height.append(born + spend.before_height_relative)
        if spend.before_seconds_relative is not None:
            before_seconds.append(at + spend.before_seconds_relative)
    return Locks(max(from_height), _least(before_height), max(from_seconds), _least(before_seconds))


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def same_spend(spend: ValidSpend, other: ValidSpend) -> bool:
    """True if both need no signature and have the same solution. Reference: manager,
    `check_removals`."""
    return spend.repeatable and other.repeatable and spend.spend.solution == other.spend.solution


def unique_spends(items: Iterable[Item]) -> dict[bytes, ValidSpend]:
    """The spends of a block with these bundles, each of several identical ones once."""
    spends: dict[bytes, ValidSpend] = {}
    for item in items:
        for coin_id, spend in item.valid.spends.items():
            spends.setdefault(coin_id, spend)
    return spends
