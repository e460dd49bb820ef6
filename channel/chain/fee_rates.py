"""The fee rate that a node asks of a spend, from its estimates and the room in its mempool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

from channelsim.channel.chain.constants import BLOCK_SECONDS, POOL_BLOCKS
from channelsim.channel.chain.mempool import LEAST_RATE, Mempool
from channelsim.channel.chain.mempool_items import by_priority

SOON = 60
"""Seconds within which a spend is to be confirmed."""

SPEND_COST = 100_000_000
"""The cost of a typical spend of a channel: in a mempool with less room, it has to pay."""

LEAST_COST = 5_000_000
"""The cost of which nodes give the least fee rate that their mempool takes."""

MOST_RATE = 10_000
"""The highest fee rate that is believed, in mojos per cost: a typical spend pays 1 XCH."""


@dataclass(frozen=True, slots=True)
class PoolUse:
    """The cost that a mempool holds, the most that it can hold, and the fees in it.

    A full one takes what pays more than the rate `least`.
    """

    cost: int
    size: int
    fees: int
    least: float

    @property
    def is_full(self) -> bool:
        """True if a typical spend has no room in it."""
        return self.cost + SPEND_COST > self.size


def asked_rate(estimates: Iterable[float], pool: PoolUse) -> int:
    """The fee rate in whole mojos per cost, at most `MOST_RATE`.

    Estimates look at past blocks, and are low when a mempool fills. So a spend pays more than those
    that wait do on average, if they are more than a block can hold.

    >>> asked_rate([0.2, 3.5], PoolUse(0, 10**11, 0, 0.0))
    4
    >>> asked_rate([0.0], PoolUse(2 * 10**10, 10**11, 6 * 10**10, 0.0))
    4
    >>> [asked_rate([0.0], PoolUse(10**11, 10**11, 0, least)) for least in (0.0, 7.5)]
    [5, 8]
    """
    rate = max(ceil(estimate) for estimate in estimates)
    if pool.cost * POOL_BLOCKS > pool.size:
        rate = max(rate, pool.fees // pool.cost + 1)
    if pool.is_full:
        rate = max(rate, LEAST_RATE, floor(pool.least) + 1)
    return min(rate, MOST_RATE)


def rate_within(pool: Mempool, seconds: int) -> float:
    """Mojos per cost that are mined before this time, if no others are offered.

    The reference node looks at past blocks instead; both give 0 while blocks have room.
    """
    room = pool.limits.room * (1 + seconds // BLOCK_SECONDS)
    for item in by_priority(pool.items()):
        room -= item.cost
        if room < 0:
            return item.rate + 1
    return 0.0


def pool_rate(pool: Mempool) -> int:
    """The fee rate that a node with this mempool asks."""
    estimates = [rate_within(pool, seconds) for seconds in (0, SOON)]
    least = pool.least_rate(LEAST_COST) or 0.0
    return asked_rate(estimates, PoolUse(pool.cost, pool.limits.pool_cost, pool.fees, least))
