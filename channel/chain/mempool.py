"""A mempool's rules: which bundles wait for a block, which give way, and which are mined first.

It does what the reference node does, chia-blockchain 2.7.5; each rule names its place there
(`manager` is chia/full_node/mempool_manager.py, `pool` chia/full_node/mempool.py, `node`
chia/full_node/full_node.py). Left out is the fast-forward of singletons: their spends are taken as
any others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from chia_rs import CoinRecord, check_time_locks
from chia_rs.sized_bytes import bytes32
from chia_rs.sized_ints import uint32, uint64

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.mempool_items import (
    DeferredBundles,
    Item,
    Limits,
    Locks,
    Tip,
    by_priority,
    can_replace,
    locks_of,
    same_spend,
)
from channelsim.channel.chain.refusals import (
    ALREADY_INCLUDING,
    CONFLICT,
    DOUBLE_SPEND,
    FEE_TOO_CLOSE_TO_ZERO,
    FEE_TOO_LOW,
    TOO_EARLY,
    UNKNOWN_UNSPENT,
    name_of,
)
from channelsim.channel.chain.validation import (
    ValidBundle,
    ValidSpend,
    is_canonical,
    node_coin,
)

LEAST_RATE = 5
"""Mojos per cost below which no fee counts in a full pool. Reference: manager, `__init__`."""

MOST_FEE = 1 << 50
"""The largest fee in mojos. Reference: pool, `MEMPOOL_ITEM_FEE_LIMIT`."""

SOON_BLOCKS, SOON_SECONDS = 48, 900
"""Bundles that end before then share one block's cost. Reference: pool, `add_to_pool`."""

MOST_SEEN = 10_000
"""Names of bundles that are remembered. Reference: manager, `seen_cache_size`."""

MOST_SKIPPED, SKIPPED_REPEATS, LEAST_ROOM = 10, 3, 6_000_000
"""Bundles that do not fit before a block is closed, or before those with repeatable spends are left
out; and the cost below which room is not used.

Reference: pool, `create_bundle_from_mempool_items`."""

MOST_SPENDS = 6000
"""The spends of a block. Reference: pool, `MAX_SPENDS_PER_BLOCK`."""


class Status(Enum):
    """Fate of an offered bundle. Reference: chia/types/mempool_inclusion_status.py."""

    SUCCESS = "SUCCESS"
    PENDING = "PENDING"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Fate of an offered bundle, and the name of what is in its way."""

    status: Status
    error: str = ""


SUCCESS = Outcome(Status.SUCCESS)


FindCoin = Callable[[bytes], CoinRecord | None]
"""The record of a coin, if the chain has it."""


class Mempool:
    """The bundles that wait for a block. `find` looks coins up on the chain that it belongs to."""

    def __init__(self, find: FindCoin, tip: Tip, limits: Limits) -> None:
        self.tip = tip
        self.limits = limits
        self._find = find
        self._clear()
        self._conflicts = DeferredBundles(limits.block_cost)
        self._early = DeferredBundles(limits.block_cost)

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
                return UNKNOWN_UNSPENT
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
                if not same_spend(spend, item.valid.spends[coin_id]):
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
