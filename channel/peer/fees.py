"""Fees from a wallet coin of our own, in the same bundle as the spends that they are for.

Signatures fix what an unroll, a timeout or a shutdown makes, so nothing is left for a fee: another
coin pays it, and asserts each spend that it pays for. A fee is raised by spending the same coin
again. Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.channel.chain.coins import Bundle, Coin, condition, joined, signed_spend
from channelsim.channel.protocol.spend_parsing import created_coins
from channelsim.channel.protocol.wallet import Wallet
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value, to_list
from channelsim.games.referee import CREATE_COIN

ASSERT_CONCURRENT_SPEND = 64
RESERVE_FEE = 52


@dataclass(frozen=True, slots=True)
class Fees:
    """Our fees for spends with a deadline, in mojos, and the wallet coin that pays them.

    `first` at once, `step` more with every block in which it is not confirmed, at most `most`.
    """

    wallet: Wallet
    first: int
    step: int
    most: int

    def after(self, blocks: int) -> int:
        """The fee of a spend that has waited for this many blocks."""
        return min(self.first + self.step * max(0, blocks), self.most)

    def change(self, coin: Coin, fee: int) -> Coin:
        """The change coin after `coin` paid this fee."""
        return Coin(coin.id, coin.puzzle_hash, coin.amount - fee)

    def paid(self, bundles: Sequence[Bundle], coin: Coin, fee: int, agg_sig_data: bytes) -> Bundle:
        """Join bundles into one that pays `fee` out of `coin`, a coin at our wallet's address."""
        conditions: list[Value] = [
            condition(ASSERT_CONCURRENT_SPEND, spend.coin.id)
            for bundle in bundles
            for spend in bundle.spends
        ]
        conditions.append(condition(RESERVE_FEE, int_to_atom(fee)))
        change = self.change(coin, fee)
        if change.amount:
            conditions.append(
                condition(CREATE_COIN, change.puzzle_hash, int_to_atom(change.amount))
            )
        own = signed_spend(self.wallet.key, coin, to_list(conditions), agg_sig_data)
        return joined(*bundles, own)


def left_of(coin: Coin, bundle: Bundle) -> tuple[Coin, int] | None:
    """The change that a bundle leaves of a wallet coin, and the fee; None if it leaves no change.

    A coin that the bundle does not spend is its own change.
    """
    spent = {spend.coin: spend.solution for spend in bundle.spends}
    paid = 0
    while coin in spent:
        change = change_of(coin, spent[coin])
        if change is None:
            return None
        coin, paid = change, paid + coin.amount - change.amount
    return coin, paid


def change_of(coin: Coin, solution: bytes) -> Coin | None:
    """The change coin of a wallet coin's spend: the largest coin at the same address, or None."""
    made = [amount for address, amount in created_coins(solution) if address == coin.puzzle_hash]
    return Coin(coin.id, coin.puzzle_hash, max(made)) if made else None
