"""Pins: a pending bundle of another side, joined with a costly spend of one's own at a low rate.

Mempools take a pin in the place of the bundle: it spends the same coins, pays more, and pays a
little more per cost. Whoever wants the spends in a block pays for the cost of the pin as well.
"""

from __future__ import annotations

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.padding import BARE_COST, padded_spend

MOST_COST = BLOCK_COST // 2
"""The most that a bundle may cost, on public networks."""


def pin_cost(pending: PendingBundle, wanted: int) -> int:
    """The most that the own spend of a pin may cost, if not more than this is wanted."""
    return max(BARE_COST, min(wanted, MOST_COST - pending.cost))


def pin_fee(pending: PendingBundle, cost: int) -> int:
    """The least fee of an own spend of this cost with which the pin replaces the bundle.

    >>> pin_fee(PendingBundle(Bundle((), b""), 0, 30_000_000), 5 * 10**9)
    10000000
    >>> pin_fee(PendingBundle(Bundle((), b""), 60_000_000, 30_000_000), 5 * 10**9)
    10000000001
    """
    return max(LEAST_RAISE, pending.fee * cost // pending.cost + 1)


def pinned(
    pending: PendingBundle, key: PrivateKey, payer: Coin, cost: int, agg_sig_data: bytes
) -> Bundle | None:
    """The pin of a bundle by a coin at this key's address; None if the coin cannot pay for it."""
    cost = pin_cost(pending, cost)
    fee = pin_fee(pending, cost)
    if fee >= payer.amount:
        return None
    return joined(pending.bundle, padded_spend(key, payer, fee, cost, agg_sig_data))
