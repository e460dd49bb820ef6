"""The wallet for fees: its coins and limits as of one block, and what a spend may cost.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from chia_rs import PrivateKey
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.peer.fee_settings import SHARE_OF_SPEND
from channelsim.channel.peer.fees.coins import FeeCoins
from channelsim.channel.peer.fees.fee_state import (
    FeeState,
    Offer,
    most_for,
    most_for_all,
    most_of_each,
)
from channelsim.channel.peer.fees.payment import payment
from channelsim.channel.peer.interface import FeeLimits, Push

SPLIT = "fee-coins"
"""The name of the spend that splits a wallet coin into fee coins."""


@dataclass(frozen=True, slots=True)
class FeeWallet:
    """Fee coins at the address of `key`, and limits, at the height `peak`.

    `total` is the channel's money in mojos; `confirmations` is its depth of what is final. `final`
    are the ids of the coins whose spends are that deep.
    """

    key: PrivateKey
    coins: FeeCoins
    limits: FeeLimits
    peak: int
    confirmations: int
    total: int
    agg_sig_data: bytes
    final: Set[bytes] = frozenset()

    @property
    def is_used(self) -> bool:
        """True if fees can be paid: by default, only if the stakes allow a fee that can rise."""
        if self.limits.per_spend is None and self.limits.per_channel is None:
            return self.total // SHARE_OF_SPEND >= LEAST_RAISE
        return self.limits.per_spend != 0 and self.limits.per_channel != 0

    def most(self, fee_state: FeeState, offer: Offer) -> int:
        """The most mojos that this spend may cost now, with what all others cost.

        Of two spends of a fee coin, only one can get in. What a fee coin was offered for before
        counts too: a reorganisation may bring that back.
        """
        others = [other for other in fee_state.offers if other.key != offer.key]
        shares = most_of_each(
            *((coin, share) for other in others for coin, share in other.shares.items()),
            *((past.coin, past.most) for past in fee_state.past if past.coin in self.coins.unspent),
        )
        elsewhere = sum(share for coin, share in shares.items() if coin not in offer.coins)
        elsewhere += sum(other.most for other in others if not other.coins)
        left = most_for_all(self.limits, self.total) - self.coins.paid - elsewhere
        amount = sum(coin.amount for coin in offer.coins)
        return max(0, min(most_for(self.limits, offer.push), left, amount))  # CH-FEE-2

    @property
    def usual_fee(self) -> int:
        """The most mojos that a spend may cost that has all the channel's money at stake."""
        most = most_for(self.limits, Push("", Bundle((), b""), self.total, 0))
        return min(most, most_for_all(self.limits, self.total))

    @property
    def most_for_splits(self) -> int:
        """The most mojos that a split costs while no spend waits for it: a tenth of all fees."""
        return most_for_all(self.limits, self.total) // 10

    def free(self, fee_state: FeeState) -> list[Coin]:
        """The fee coins that pay for no spend yet, the smallest first."""
        offers = (offer for offer in fee_state.offers if offer.push.name != SPLIT)
        used = {coin for offer in offers for coin in offer.coins}
        return [coin for coin in self.coins.unspent if coin not in used]

    def with_coin(self, fee_state: FeeState, offer: Offer) -> Offer:
        """The offer with fee coins that are there: the smallest that suffices, or the largest.

        They are those that paid for this spend before a reorganisation, or else ones that did not
        pay for another spend: of two payments for a spend, somebody could have both mined. What
        replaces a bundle has its coins (CH-FEE-3): a coin that can pay no more gets a second.
        """
        free = self.free(fee_state)
        before = [
            past.coin for past in fee_state.past if past.key == offer.key and past.coin in free
        ]
        coins = [coin for coin in offer.coins if coin in self.coins.unspent]
        coins = coins or list(dict.fromkeys(before))[:2]
        elsewhere = [past.coin for past in fee_state.past if past.key != offer.key]
        free = [coin for coin in free if coin not in coins]
        free = (
            [coin for coin in free if coin in before]
            or [coin for coin in free if coin not in elsewhere]
            or free
        )
        if not coins:
            if not free:
                return replace(offer, coin=None, second=None, cost=0, fee=0, offered=0)
            coins = [_least(free, most_for(self.limits, offer.push))]
        if tuple(coins) != offer.coins:
            if coins[0] != offer.coin:
                offer = replace(offer, fee=0, offered=0)
            fee = min(offer.fee, sum(coin.amount for coin in coins))
            second = coins[1] if len(coins) > 1 else None
            offer = self.with_cost(replace(offer, coin=coins[0], second=second, fee=fee))
        return self._with_second(fee_state, offer, free)

    def _with_second(self, fee_state: FeeState, offer: Offer, free: list[Coin]) -> Offer:
        """The offer with one of these coins beside its own, for a higher fee at a higher rate."""
        coin = offer.coin
        if coin is None or offer.second is not None or not free:
            return offer
        if coin.amount >= offer.fee + LEAST_RAISE:
            return offer
        second = _least(free, most_for(self.limits, offer.push) - coin.amount)
        both = self.with_cost(replace(offer, second=second))
        at_rate = offer.fee * both.cost // max(cost_of(self.paid(offer)), 1) + 1
        fee = max(offer.fee + LEAST_RAISE, at_rate)
        return replace(both, fee=fee) if fee <= self.most(fee_state, both) else offer

    def with_cost(self, offer: Offer) -> Offer:
        """The offer with the cost of its spend and of its fee coin's."""
        if offer.coin is None:
            return offer
        bundle = self.paid(replace(offer, fee=offer.coin.amount // 2))
        return replace(offer, cost=cost_of(bundle))

    def paid(self, offer: Offer) -> Bundle:
        """Join the spend of an offer with those of its fee coins, which pay for it."""
        bundle, left = offer.push.bundle, offer.fee
        for coin in offer.coins:
            fee = min(left, coin.amount)
            own = payment(self.key, coin, fee, offer.push.bundle, self.agg_sig_data, spare=True)
            bundle, left = joined(bundle, own), left - fee
        return bundle

    def push(self, offer: Offer) -> Push:
        """The push of an offer, as it is now.

        A spend with a deadline has its fee coin from the beginning: whoever pins it has to take
        that coin too, and a higher fee then makes the bundle no larger.
        """
        push = offer.push
        if offer.coin is None or (not offer.fee and push.before is None):
            return push
        bundle = self.paid(offer)
        name = f"{push.name}+fee" if offer.fee else push.name
        return Push(name, bundle, push.stake, push.before)


def _least(coins: list[Coin], amount: int) -> Coin:
    """The smallest of these coins that has this amount, or the largest."""
    return next((coin for coin in coins if coin.amount >= amount), coins[-1])
