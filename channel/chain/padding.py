"""Spends of wallet coins that cost as much as wanted, for the other users of a simulated chain.

Bytes are what costs most for the least work: 12,000 each, against 1,800,000 for an output and
1,200,000 for a signature, both of which a node works on much longer.
"""

from __future__ import annotations

from hashlib import shake_256

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import REMARK, Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.constants import COST_PER_BYTE
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN

BARE_COST = 8_000_000
"""The most that a signed spend with one output costs without padding."""

COST_OF_PADDING = COST_PER_BYTE + 2
"""The cost of a byte of padding: its place in the bundle, and its share of a hash."""

SLACK = 300_000
"""The most by which a padded spend costs less than what was wanted."""


def padded_spend(
    key: PrivateKey, coin: Coin, fee: int, cost: int, agg_sig_data: bytes, nonce: bytes = b""
) -> Bundle:
    """Spend a coin at a key's address to a smaller one there, at this fee and about this cost.

    The cost is at most `SLACK` below, and never above, if `cost` is at least `BARE_COST`. The
    padding depends on the coin, the fee and the `nonce`, so that no two spends have the same: a
    block with many equal bytes would cost less than its spends.
    """
    conditions = [condition(CREATE_COIN, coin.puzzle_hash, coin.amount - fee)]
    size = (cost - BARE_COST) // COST_OF_PADDING
    if size > 0:
        padding = shake_256(coin.id + int_to_atom(fee) + nonce).digest(size)
        conditions.append(condition(REMARK, padding))
    return signed_spend(key, coin, to_list(conditions), agg_sig_data)
