"""Payment of a fee: the spend of a wallet coin of ours, in one bundle with the spend it is for.

Signatures fix what an unroll, a timeout or a shutdown creates, so nothing is left for a fee. A fee
coin pays it, and asserts each spend that it pays for (CH-FEE-1). Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.clsp.values import Value, to_list
from channelsim.games.referee import CREATE_COIN

ASSERT_CONCURRENT_SPEND = 64
RESERVE_FEE = 52


def payment(
    key: PrivateKey,
    coin: Coin,
    fee: int,
    bundle: Bundle,
    agg_sig_data: bytes,
    *,
    spare: bool = False,
) -> Bundle:
    """The spend of a coin at the address of `key` that pays `fee` mojos for this bundle.

    `spare`: with its first assertion twice. A bundle that takes it and fills half a block, the most
    that a mempool takes, then has room for the bytes of a higher fee without that.
    """
    asserted = [condition(ASSERT_CONCURRENT_SPEND, spend.coin.id) for spend in bundle.spends]
    repeated = asserted[:1] if spare else []
    return _spend(key, coin, fee, [coin.amount - fee], [*repeated, *asserted], agg_sig_data)


def split(
    key: PrivateKey, coin: Coin, amounts: Sequence[int], fee: int, agg_sig_data: bytes
) -> Bundle:
    """Split a coin at the address of `key` into these amounts and the rest, for this fee."""
    rest = coin.amount - fee - sum(amounts)
    return _spend(key, coin, fee, [*amounts, rest], (), agg_sig_data)


def _spend(
    key: PrivateKey,
    coin: Coin,
    fee: int,
    amounts: Sequence[int],
    asserted: Iterable[Value],
    agg_sig_data: bytes,
) -> Bundle:
    """The spend of a coin at our address to coins of these amounts there. It has no locks."""
    made = (condition(CREATE_COIN, coin.puzzle_hash, amount) for amount in amounts if amount)
    conditions = [*asserted, condition(RESERVE_FEE, fee), *made]  # CH-FEE-1
    return signed_spend(key, coin, to_list(conditions), agg_sig_data)
