"""Payment of a fee: the spend of a wallet coin of ours, in one bundle with the spend it is for.

Signatures fix what an unroll, a timeout or a shutdown creates, so nothing is left for a fee. A fee
coin pays it, and asserts each spend that it pays for (CH-FEE-1). Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from channelsim.channel.chain.coins import REMARK, Bundle, Coin, condition, signed_spend
from channelsim.channel.peer.fee_settings import Fees
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value, to_list
from channelsim.games.referee import CREATE_COIN

ASSERT_CONCURRENT_SPEND = 64
RESERVE_FEE = 52

MOST_ROOM = 20
"""Bytes of padding in a payment of nothing: each byte of its fee takes two of them."""


def payment(fees: Fees, coin: Coin, fee: int, bundle: Bundle, agg_sig_data: bytes) -> Bundle:
    """The spend of `coin`, a coin at our address, that pays `fee` mojos for this bundle.

    A higher fee makes it no costlier: a pin may leave no room in its bundle for more.
    """
    asserted = [condition(ASSERT_CONCURRENT_SPEND, spend.coin.id) for spend in bundle.spends]
    room = bytes(MOST_ROOM - 2 * len(int_to_atom(fee)))
    asserted.append(condition(REMARK, room))
    return _spend(fees, coin, fee, [coin.amount - fee], asserted, agg_sig_data)


def split(fees: Fees, coin: Coin, amounts: Sequence[int], fee: int, agg_sig_data: bytes) -> Bundle:
    """Split a coin at our address into coins of these amounts and the rest, for this fee."""
    rest = coin.amount - fee - sum(amounts)
    return _spend(fees, coin, fee, [*amounts, rest], (), agg_sig_data)


def _spend(
    fees: Fees,
    coin: Coin,
    fee: int,
    amounts: Sequence[int],
    asserted: Iterable[Value],
    agg_sig_data: bytes,
) -> Bundle:
    """The spend of a coin at our address to coins of these amounts there. It has no locks."""
    made = (
        condition(CREATE_COIN, coin.puzzle_hash, int_to_atom(amount))
        for amount in amounts
        if amount
    )
    conditions = [*asserted, condition(RESERVE_FEE, int_to_atom(fee)), *made]
    return signed_spend(fees.wallet.key, coin, to_list(conditions), agg_sig_data)
