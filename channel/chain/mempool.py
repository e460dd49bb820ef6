"""A mempool's rules: which bundles wait for a block, which give way, and which are mined first.

It does what the reference node does, chia-blockchain 2.7.5; each rule names its place there
(`manager` is chia/full_node/mempool_manager.py, `pool` chia/full_node/mempool.py, `node`
chia/full_node/full_node.py, `caches` chia/full_node/pending_tx_cache.py). Left out is the
fast-forward of singletons: their spends are taken as any others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from chia_rs import CoinRecord, check_time_locks
from chia_rs.sized_bytes import bytes32
from chia_rs.sized_ints import uint32, uint64

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.constants import BLOCK_COST, COST_PER_BYTE, POOL_BLOCKS
from channelsim.channel.chain.refusals import (
    ALREADY_INCLUDING,
    CONFLICT,
    DOUBLE_SPEND,
    FEE_TOO_CLOSE_TO_ZERO,
    FEE_TOO_LOW,
    TOO_EARLY,
    name_of,
)
from channelsim.channel.chain.validation import (
    ValidBundle,
    ValidSpend,
    is_canonical,
    node_coin,
)

OVERHEAD = 2 * COST_PER_BYTE + 20
"""The cost of a block without spends. Reference: `BLOCK_OVERHEAD` in manager, `__init__`."""

LEAST_RAISE = 10_000_000
"""Mojos that a replacement pays more. Reference: manager, `MEMPOOL_MIN_FEE_INCREASE`."""

LEAST_RATE = 5
"""Mojos per cost below which no fee counts in a full pool. Reference: manager, `__init__`."""

MOST_FEE = 1 << 50
"""The largest fee in mojos. Reference: pool, `MEMPOOL_ITEM_FEE_LIMIT`."""

SPEND_PENALTY = 500_000
"""Cost that a spend adds when bundles are ordered. Reference: chia/types/mempool_item.py."""

SOON_BLOCKS, SOON_SECONDS = 48, 900
"""Bundles that end before then share one block's cost. Reference: pool, `add_to_pool`."""

MOST_SEEN = 10_000
"""Names of bundles that are remembered. Reference: manager, `seen_cache_size`."""

MOST_KEPT = 1000
"""Bundles kept for later, of each kind. Reference: manager, `__init__`."""

MOST_SKIPPED, SKIPPED_REPEATS, LEAST_ROOM = 10, 3, 6_000_000
"""Bundles that do not fit before a block is closed, or before those with repeatable spends are left
out; and the cost below which room is not used.

Reference: pool, `create_bundle_from_mempool_items`."""

MOST_SPENDS = 6000
"""The spends of a block. Reference: pool, `MAX_SPENDS_PER_BLOCK`."""


class Status(Enum):
    """What becomes of an offered bundle. Reference: chia/types/mempool_inclusion_status.py."""

    SUCCESS = "SUCCESS"
    PENDING = "PENDING"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of an offered bundle, and the name of what is in its way."""

    status: Status
    error: str = ""


SUCCESS = Outcome(Status.SUCCESS)


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


FindCoin = Callable[[bytes], CoinRecord | None]
"""The record of a coin, if the chain has it."""


class Mempool:
    """The bundles that wait for a block. `find` looks coins up on the chain that it belongs to."""

    def __init__(self, find: FindCoin, tip: Tip, limits: Limits) -> None:
        self.tip = tip
        self.limits = limits
        self._find = find
        self._clear()
        self._conflicts = _Kept(limits.block_cost)
        self._early = _Kept(limits.block_cost)

    def _clear(self) -> None:
        # In the order in which they came, which decides between equal rates.
        self._items: dict[bytes, Item] = {}
        self._by_coin: dict[bytes, list[Item]] = {}
        self._cost = 0
        self._fees = 0
        self._seen: dict[bytes, None] = {}

    # --- looking ---

    def __len__(self) -> int:
        return len(self._items)

    @property
    def cost(self) -> int:
        """The cost of all bundles in it."""
        return self._cost

    @property
    def fees(self) -> int:
        """The fees of all bundles in it."""
        return self._fees

    @property
    def waiting(self) -> int:
        """The number of bundles that are kept for later."""
        return len(self._conflicts) + len(self._early)

    def items(self) -> Iterator[Item]:
        """The bundles in it, in the order in which they came."""
        return iter(self._items.values())

    def item(self, name: bytes, *, kept: bool = False) -> Item | None:
        """The bundle with this id; with `kept`, also one that is kept for later."""
        found = self._items.get(name)
        if found is None and kept:
            found = self._early.get(name) or self._conflicts.get(name)
        return found

    def spending(self, coin_id: bytes) -> list[Item]:
        """The bundles that spend this coin."""
        return list(self._by_coin.get(coin_id, ()))

    # --- offering ---

    def known(self, name: bytes) -> Outcome | None:
        """The answer to a bundle that is here already, or was.

        Reference: `push_tx` in chia/full_node/full_node_rpc_api.py; node, `add_transaction`.
        """
        if name in self._items:
            return SUCCESS
        return Outcome(Status.FAILED, ALREADY_INCLUDING) if name in self._seen else None

    def remember(self, name: bytes) -> None:
        """Do not take this bundle again. Reference: manager, `add_and_maybe_pop_seen`."""
        self._seen[name] = None
        if len(self._seen) > MOST_SEEN:
            del self._seen[next(iter(self._seen))]

    def forget(self, name: bytes) -> None:
        """Take this bundle again."""
        self._seen.pop(name, None)

    def offer(self, valid: ValidBundle) -> Outcome:
        """Take a valid bundle, or say why not. Reference: node, `add_transaction`."""
        answer = self.known(valid.name)
        if answer is None:
            self.remember(valid.name)
            answer = self._add(valid, self.tip.height)
            if answer.status is not Status.SUCCESS:
                self.forget(valid.name)
        return answer

    def _add(self, valid: ValidBundle, since: int) -> Outcome:
        """Put a bundle in its place. Reference: manager, `add_spend_bundle`."""
        if valid.name in self._items:
            return SUCCESS
        records: dict[bytes, CoinRecord] = {}
        error = self._refusal(valid, records)
        if error:
            return Outcome(Status.FAILED, error)
        conflicts = self._conflicts_of(valid, records)
        if conflicts is None:
            return Outcome(Status.FAILED, DOUBLE_SPEND)
        locked, locks = self._locked(valid, records)
        if locks.impossible:
            return Outcome(Status.FAILED, locks.impossible)
        item = Item(valid, locks, since)
        if locked in TOO_EARLY:
            self._early.add(item, lambda kept: -kept.locks.from_height)
            return Outcome(Status.PENDING, locked)
        if locked:
            return Outcome(Status.FAILED, locked)
        if conflicts and not can_replace(conflicts, item):
            self._conflicts.add(item, lambda kept: 0)
            return Outcome(Status.PENDING, CONFLICT)
        self._remove(conflicts)
        return self._insert(item)

    def _refusal(self, valid: ValidBundle, records: dict[bytes, CoinRecord]) -> str:
        """Find its coins' records, and what is wrong with bytes, coins, cost or fee.

        Reference: manager, `validate_spend_bundle`.
        """
        for spend in valid.spends.values():
            if not (is_canonical(spend.spend.puzzle) and is_canonical(spend.spend.solution)):
                return "INVALID_COIN_SOLUTION"
        made = {coin.id for spend in valid.spends.values() for coin, _ in spend.made}
        for coin_id, spend in valid.spends.items():
            # A coin that another spend of the same bundle makes is as old as the next block.
            found = self._next(spend.spend.coin) if coin_id in made else self._find(coin_id)
            if found is None:
                return "UNKNOWN_UNSPENT"
            records[coin_id] = found
        if valid.cost > self.limits.block_cost // 2:
            return "BLOCK_COST_EXCEEDS_MAX"
        if valid.fee > MOST_FEE:
            return "INVALID_BLOCK_FEE_AMOUNT"
        return self._too_cheap(valid)

    def _next(self, coin: Coin) -> CoinRecord:
        height, seconds = uint32(self.tip.height + 1), uint64(self.tip.seconds)
        return CoinRecord(node_coin(coin), height, uint32(0), False, seconds)

    def _too_cheap(self, valid: ValidBundle) -> str:
        """Why a full pool does not take it. Reference: manager, `validate_spend_bundle`."""
        if self._cost + valid.cost <= self.limits.pool_cost:
            return ""
        rate = valid.fee / valid.cost
        if rate < LEAST_RATE:
            return FEE_TOO_CLOSE_TO_ZERO
        least = self.least_rate(valid.cost)
        if least is None:
            return "INVALID_COST_RESULT"
        return FEE_TOO_LOW if rate <= least else ""

    def least_rate(self, cost: int) -> float | None:
        """Mojos per cost that a bundle of this cost must exceed; None if it does not fit at all.

        Reference: pool, `get_min_fee_rate`.
        """
        total = self._cost + cost
        if total <= self.limits.pool_cost:
            return 0.0
        newest_first = reversed(self._items.values())
        for item in sorted(newest_first, key=lambda item: item.rate):
            total -= item.cost
            if total <= self.limits.pool_cost:
                return item.rate
        return None

    def _conflicts_of(
        self, valid: ValidBundle, records: dict[bytes, CoinRecord]
    ) -> list[Item] | None:
        """The bundles in its way; None if a coin is spent already.

        Spends that need no signature are in nobody's way while they are the same.
        Reference: manager, `check_removals`.
        """
        if any(record.spent for record in records.values()):
            return None
        conflicts: dict[bytes, Item] = {}
        for coin_id, spend in valid.spends.items():
            for item in self._by_coin.get(coin_id, ()):
                if not _same(spend, item.valid.spends[coin_id]):
                    conflicts[item.name] = item
        return list(conflicts.values())

    def _locked(self, valid: ValidBundle, records: dict[bytes, CoinRecord]) -> tuple[str, Locks]:
        """The lock that does not hold now, and all locks by height and time.

        Reference: manager, `validate_spend_bundle`.
        """
        by_id = {bytes32(coin_id): record for coin_id, record in records.items()}
        height, seconds = uint32(self.tip.height), uint64(self.tip.seconds)
        error = check_time_locks(by_id, valid.conditions, height, seconds, False)
        return "" if error is None else name_of(error), locks_of(valid, records)

    # --- changing the pool ---

    def _insert(self, item: Item) -> Outcome:
        """Make room for a bundle and take it. Reference: pool, `add_to_pool`."""
        soon = self.tip.height + SOON_BLOCKS, self.tip.seconds + SOON_SECONDS
        if item.ends_before(*soon):
            ending = [other for other in self._items.values() if other.ends_before(*soon)]
            if not self._make_room_among(ending, item):
                return Outcome(Status.FAILED, FEE_TOO_LOW)
        if self._cost + item.cost > self.limits.pool_cost:
            total, room = 0, self.limits.pool_cost - item.cost
            evicted = []
            for other in by_priority(self._items.values()):
                total += other.cost
                if total > room:
                    evicted.append(other)
            self._remove(evicted)
        self._items[item.name] = item
        for coin_id in item.valid.spends:
            self._by_coin.setdefault(coin_id, []).append(item)
        self._cost += item.cost
        self._fees += item.fee
        return SUCCESS

    def _make_room_among(self, ending: list[Item], item: Item) -> bool:
        """Evict cheaper bundles that end soon, until all of them and this one fit into a block."""
        total = sum(other.cost for other in ending)
        evicted = []
        for other in reversed(by_priority(ending)):
            if total + item.cost <= self.limits.room:
                break
            if other.priority > item.priority:
                return False
            evicted.append(other)
            total -= other.cost
        self._remove(evicted)
        return True

    def _remove(self, items: Iterable[Item]) -> None:
        for item in items:
            del self._items[item.name]
            for coin_id in item.valid.spends:
                there = self._by_coin[coin_id]
                there.remove(item)
                if not there:
                    del self._by_coin[coin_id]
            self._cost -= item.cost
            self._fees -= item.fee

    # --- blocks ---

    def next_block(self) -> list[Item]:
        """The bundles of the next block: the best paid that fit.

        Reference: pool, `create_bundle_from_mempool_items`.
        """
        if not self._items:
            return []
        chosen: list[Item] = []
        cost, spends, skipped = 0, 0, 0
        repeatable: dict[bytes, ValidSpend] = {}
        for item in by_priority(self._items.values()):
            own = item.valid.spends
            new = {coin_id: spend for coin_id, spend in own.items() if coin_id not in repeatable}
            if skipped >= SKIPPED_REPEATS and any(spend.repeatable for spend in own.values()):
                continue
            saved = sum(repeatable[coin_id].cost for coin_id in own if coin_id not in new)
            if cost + item.cost - saved > self.limits.room or spends + len(new) > MOST_SPENDS:
                skipped += 1
                if skipped < MOST_SKIPPED:
                    continue
                break
            repeatable.update((key, spend) for key, spend in new.items() if spend.repeatable)
            chosen.append(item)
            cost += item.cost - saved
            spends += len(new)
            if self.limits.room - cost < LEAST_ROOM or spends >= MOST_SPENDS:
                break
        return chosen

    def add_block(self, tip: Tip, spent: Iterable[bytes]) -> None:
        """Follow a block with transactions, which spends these coins.

        Reference: manager, `new_peak`.
        """
        if self._items:
            self._expire(tip)
        self.tip = tip
        for coin_id in spent:
            for item in self.spending(coin_id):
                self._remove([item])
                self.forget(item.name)
        self._retry()

    def reorganise(self, tip: Tip) -> None:
        """Judge all bundles anew, on another chain: what was dropped may come again.

        Reference: manager, `new_peak`.
        """
        self._expire(tip)
        self.tip = tip
        old = list(self._items.values())
        self._clear()
        for item in old:
            if self._add(item.valid, item.since).status is Status.SUCCESS:
                self.remember(item.name)
        self._retry()

    def _expire(self, tip: Tip) -> None:
        """Drop what can be mined no more. Reference: pool, `new_tx_block`."""
        height, seconds = tip.height + 1, tip.seconds + 1
        self._remove([item for item in self._items.values() if item.ends_before(height, seconds)])

    def _retry(self) -> None:
        """Offer what was kept for later. Reference: manager, `new_peak`."""
        if not self.waiting:
            return
        due = self._early.take(lambda item: item.locks.from_height <= self.tip.height)
        due.sort(key=lambda item: item.locks.from_height)
        for item in due + self._conflicts.take(lambda item: True):
            self._add(item.valid, item.since)


class _Kept:
    """Bundles that are kept for later, up to a block's cost. Reference: caches."""

    def __init__(self, most_cost: int) -> None:
        self._most_cost = most_cost
        self._items: dict[bytes, Item] = {}
        self._cost = 0

    def __len__(self) -> int:
        return len(self._items)

    def get(self, name: bytes) -> Item | None:
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


def _same(spend: ValidSpend, other: ValidSpend) -> bool:
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
