"""The money of fee coins that is at risk: what was paid, and what is offered and may be mined.

It is worked out from what a side has pushed and sees on chain. Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.fee_settings import (
    SHARE_OF_CHANNEL,
    SHARE_OF_SPEND,
    SPENDS_AT_MAXIMUM,
)
from channelsim.channel.peer.interface import FeeLimits, Push
from channelsim.channel.simulation.promises.fee_offers import FeeWallet, Offered


@dataclass(slots=True)
class FeeRisk:
    """The offers from the fee coins of one side, within its limits.

    `total` is the channel's money in mojos. `fee_wallet` and the coins `seen` are those of the last
    block. `offers` has the most mojos offered from each fee coin, by the coins that are spent for
    it.
    """

    limits: FeeLimits
    total: int
    fee_wallet: FeeWallet = field(default_factory=lambda: FeeWallet({}, 0))
    seen: Mapping[bytes, CoinSeen] = field(default_factory=dict)
    offers: dict[bytes, dict[frozenset[bytes], int]] = field(default_factory=dict)

    @property
    def at_stake(self) -> int:
        """The mojos that are paid, and those that are offered from other coins."""
        return self.fee_wallet.paid + sum(map(self._of_coin, self.offers))

    def most(self, push: Push) -> tuple[int, int]:
        """The most mojos for this spend, and for all of the channel."""
        most, all_most = self.limits.per_spend, self.limits.per_channel
        most = push.stake // SHARE_OF_SPEND if most is None else most
        if push.before is None:
            most = max(0, min(most, push.stake - 1))
        if all_most is None:
            several = SPENDS_AT_MAXIMUM * (self.limits.per_spend or 0)
            all_most = max(self.total // SHARE_OF_CHANNEL, several)
        return most, all_most

    def left(self, push: Push, coin: Coin | None) -> int:
        """The most mojos that a spend must offer, beside what other coins may have to pay."""
        most, all_most = self.most(push)
        return max(0, min(most, all_most - self.beside(coin)))

    def beside(self, coin: Coin | None) -> int:
        """The mojos that are paid, and that other coins may have to pay: a reorganisation may bring
        an offer back."""
        others = (other for other in self.offers if coin is None or other != coin.id)
        return self.fee_wallet.paid + sum(self._of_coin(other, come_back=True) for other in others)

    def room(self, push: Push, offer: Offered) -> int:
        """The most mojos that may be offered for a spend, from its coin or a free one."""
        if not offer.payments:
            amounts = [coin.amount for coin in self.free()]
            return min(self.left(push, None), max(amounts, default=0))
        coin = offer.first(offer.payments[-1])
        return min(self.left(push, coin), coin.amount) if coin.id in self.fee_wallet.unspent else 0

    def free(self) -> list[Coin]:
        """The fee coins from which nothing is offered that could still be mined.

        A payment for coins that are not there may be for what comes with it, such as a launcher.
        """
        return [
            coin
            for coin in self.fee_wallet.unspent.values()
            if not any(map(self._is_unspent, filter(None, self.offers.get(coin.id, ()))))
        ]

    def free_for(self, coins: frozenset[bytes]) -> set[bytes]:
        """The ids of the fee coins from which nothing is offered but for the spends of these."""
        return {
            coin_id
            for coin_id in self.fee_wallet.unspent
            if all(
                asserted & coins or not self._is_unspent(asserted)
                for asserted in self.offers.get(coin_id, ())
            )
        }

    # --- offers ---

    def offered(self, offer: Offered) -> int:
        """The most mojos that a coin of an offer was offered for the same spends before."""
        known = (self._known(coin_id, asserted) for coin_id, asserted, _ in _shares(offer))
        return max(known, default=0)

    def is_shared(self, offer: Offered) -> bool:
        """True if a coin of an offer also pays for another spend, which may still be mined."""
        shares = [*_shares(offer)]
        for coin_id, asserted, _ in shares:
            inside = (also for other, also, _ in shares if other == coin_id)
            known = filter(None, (*self.offers.get(coin_id, ()), *inside))
            pending = filter(self._can_be_mined, known)
            if asserted and not all(asserted & other for other in pending):
                return True
        return False

    def add(self, offer: Offered) -> None:
        """Count an offer. Payments of one bundle cannot be parted: they count if they are more than
        their coins were offered for before."""
        shares = [*_shares(offer)]
        before = sum(self._known(coin_id, asserted) for coin_id, asserted, _ in shares)
        is_more = sum(fee for *_, fee in shares) > before
        for coin_id, asserted, fee in shares:
            known = self.offers.setdefault(coin_id, {})
            known[asserted] = max(fee if is_more else 0, known.get(asserted, 0))

    def _known(self, coin_id: bytes, asserted: frozenset[bytes]) -> int:
        return self.offers.get(coin_id, {}).get(asserted, 0)

    def _of_coin(self, coin_id: bytes, *, come_back: bool = False) -> int:
        """The most mojos of a fee coin that can be lost to what was offered from it.

        With `come_back` also by what could not be mined now: a reorganisation may bring it back.
        """
        if coin_id not in self.fee_wallet.unspent:
            return 0
        offers = self.offers.get(coin_id, {})
        return max(
            (fee for asserted, fee in offers.items() if come_back or self._can_be_mined(asserted)),
            default=0,
        )

    def _can_be_mined(self, asserted: frozenset[bytes]) -> bool:
        """True if these coins may still be spent, as far as this side sees."""
        records = [self.seen[coin_id] for coin_id in asserted if coin_id in self.seen]
        return not asserted or (bool(records) and all(one.spent is None for one in records))

    def _is_unspent(self, asserted: frozenset[bytes]) -> bool:
        """True if none of these coins is spent, as far as this side sees."""
        records = (self.seen.get(coin_id) for coin_id in asserted)
        return all(record is None or record.spent is None for record in records)


def _shares(offer: Offered) -> Iterator[tuple[bytes, frozenset[bytes], int]]:
    """The ids of the fee coins in a bundle, each with the coins spent for its fee, and the fee."""
    sums: dict[tuple[bytes, frozenset[bytes]], int] = {}
    for payment in offer.payments:
        key = offer.first(payment).id, payment.asserted
        sums[key] = sums.get(key, 0) + payment.fee
    for (coin_id, asserted), fee in sums.items():
        yield coin_id, asserted, fee
