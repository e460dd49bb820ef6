"""The offers that we have made to the mempool, and the rule by which they rise.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterable, Set

import msgspec
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.peer.fee_settings import (
    SHARE_OF_CHANNEL,
    SHARE_OF_SPEND,
    SPENDS_AT_MAXIMUM,
    Fees,
)
from channelsim.channel.peer.interface import FeeLimits, Push

PATIENCE = 20
"""Blocks in which the fee of a spend without a deadline rises to its maximum."""


class Offer(msgspec.Struct, frozen=True):
    """The offer for one spend, due since the height `since`: `coin` pays `fee` mojos for it.

    What it cannot pay comes from a `second` coin. `cost` is that of all these spends together.
    `others` are the pending bundles that we joined to replace them by `replacement`, for
    `replacement_fee`. `answers` counts what we did at `height` because of the node's answers.
    `reported`: the player knows that it does not get in. `offered` is the highest fee that these
    coins were offered for: those bytes may still get in.
    """

    push: Push
    since: int
    coin: Coin | None = None
    cost: int = 0
    fee: int = 0
    others: tuple[PendingBundle, ...] = ()
    replacement: Bundle | None = None
    replacement_fee: int = 0
    height: int = 0
    answers: int = 0
    reported: bool = False
    offered: int = 0
    second: Coin | None = None

    @property
    def coins(self) -> tuple[Coin, ...]:
        """The fee coins that pay, in this order."""
        return tuple(coin for coin in (self.coin, self.second) if coin is not None)

    @property
    def key(self) -> bytes:
        """The id of the coin that is to be spent."""
        return key_of(self.push)

    @property
    def most(self) -> int:
        """The most mojos that it can cost us, whichever of our bundles gets in."""
        return max(self.fee, self.replacement_fee, self.offered)

    @property
    def shares(self) -> dict[Coin, int]:
        """The share of each fee coin: the second one pays what the first one cannot."""
        shares, left = {}, self.most
        for coin in self.coins:
            shares[coin] = min(left, coin.amount)
            left -= shares[coin]
        return shares


class PastOffer(msgspec.Struct, frozen=True):
    """The most that a fee coin was offered for the spend of the coins `spends`, by their ids.

    It is not due any more, or another coin pays for it. A reorganisation can make both payments
    possible again.
    """

    spends: tuple[bytes, ...]
    coin: Coin
    most: int

    @property
    def key(self) -> bytes:
        """The id of the coin by which the spend is known."""
        return self.spends[0]


class FeeState(msgspec.Struct, frozen=True):
    """All that a peer remembers of its fees.

    `rate` is the node's estimate, in mojos per cost. `limits` are the player's, if it has changed
    them since the channel began. `watched` are the fee coins that the driver reports. `dropped` are
    the coins whose spends the node has dropped, as the player knows. `past` are offers that a
    reorganisation may bring back.
    """

    rate: int = 0
    limits: FeeLimits | None = None
    offers: tuple[Offer, ...] = ()
    watched: tuple[Coin, ...] = ()
    dropped: tuple[bytes, ...] = ()
    past: tuple[PastOffer, ...] = ()

    def offer(self, key: bytes) -> Offer | None:
        """The offer for the spend of the coin with this id."""
        return next((offer for offer in self.offers if offer.key == key), None)

    def with_offer(self, offer: Offer) -> FeeState:
        """The state with this offer in the place of the one for the same spend."""
        before = self.offer(offer.key)
        ended = _past(before) if before is not None else ()
        earlier = most_of_each(
            *((past.coin, past.most) for past in self.past),
            *(before.shares.items() if before is not None else ()),
        )
        offered = sum(earlier.get(coin, 0) for coin in offer.coins)
        offer = replace(offer, offered=max(offer.offered, offered))
        others = [other for other in self.offers if other.key != offer.key]
        past = (*self.past, *(other for other in ended if other.coin not in offer.coins))
        return replace(self, offers=(*others, offer), past=past)

    def only(self, keys: Iterable[bytes], final: Set[bytes]) -> FeeState:
        """The state of a block with which no other spends than these are due.

        What was offered for others is remembered until the spend of one of their coins is `final`:
        a coin that is not there may be made again, at any time, after a reorganisation.
        """
        due = set(keys)
        offers = tuple(offer for offer in self.offers if offer.key in due)
        ended = (one for offer in self.offers if offer.key not in due for one in _past(offer))
        past: dict[tuple[tuple[bytes, ...], Coin], int] = {}
        for one in (*self.past, *ended):
            if final.isdisjoint(one.spends):
                past[one.spends, one.coin] = max(one.most, past.get((one.spends, one.coin), 0))
        return replace(self, offers=offers, past=tuple(PastOffer(*of, past[of]) for of in past))


def _past(offer: Offer) -> tuple[PastOffer, ...]:
    """The memory of an offer, for each coin that pays."""
    spends = tuple(spend.coin.id for spend in offer.push.bundle.spends)
    return tuple(PastOffer(spends, coin, share) for coin, share in offer.shares.items())


def most_of_each(*shares: tuple[Coin, int]) -> dict[Coin, int]:
    """The most mojos that each fee coin pays: of its spends, only one can get in."""
    most: dict[Coin, int] = {}
    for coin, share in shares:
        most[coin] = max(share, most.get(coin, 0))
    return most


def key_of(push: Push) -> bytes:
    """The id of the coin by which a spend is known: another spend of it replaces this one."""
    return push.bundle.spends[0].coin.id


def limits_of(fees: Fees, fee_state: FeeState) -> FeeLimits:
    """The player's limits, as of now."""
    return fee_state.limits or FeeLimits(fees.per_spend, fees.per_channel)


def most_for(limits: FeeLimits, push: Push) -> int:
    """The most mojos that a spend may cost. One without a deadline costs less than it brings."""
    most = push.stake // SHARE_OF_SPEND if limits.per_spend is None else limits.per_spend
    return most if push.before is not None else max(0, min(most, push.stake - 1))


def most_for_all(limits: FeeLimits, total: int) -> int:
    """The most mojos that all spends of a channel with this much money may cost.

    A player that names a maximum for a spend only means it for several of them.
    """
    if limits.per_channel is not None:
        return limits.per_channel
    return max(total // SHARE_OF_CHANNEL, SPENDS_AT_MAXIMUM * (limits.per_spend or 0))


def risen(start: int, most: int, blocks: int, within: int) -> int:
    """The fee after a spend has waited for so many blocks: from `start` to `most`.

    It doubles as often as it takes to reach `most` within this number of blocks, and rises evenly
    between two doublings: the more blocks there are, the smaller its steps.

    >>> [risen(10, 100, blocks, 8) for blocks in (0, 1, 2, 3, 4, 6, 8)]
    [10, 15, 20, 30, 40, 80, 100]
    """
    if start <= 0 or most <= start:
        return most
    within = max(within, 1)
    doublings, part = divmod((most // start).bit_length() * min(blocks, within), within)
    return min(most, (start << doublings) * (within + part) // within)


def wanted_fee(offer: Offer, start: int, most: int, peak: int, confirmations: int) -> int:
    """The fee that an offer should have now: `start` at first, which is the node's estimate.

    A spend with a deadline rises with every block, to the maximum when two thirds of its time are
    over; one without waits for `confirmations` blocks first.
    """
    waited, before = peak - offer.since, offer.push.before
    if before is None:
        waited, within = waited - confirmations, PATIENCE
    else:
        within = max(1, 2 * (before - offer.since) // 3)
    if waited <= 0:
        return min(start, most)
    return risen(max(start, LEAST_RAISE), most, waited, within)


def raised(before: int, wanted: int, most: int) -> int:
    """The fee in the place of `before`: as it was, unless mempools take the step (CH-FEE-3).

    >>> raised(5, 5, 10**9), raised(5, 6, 10**9), raised(0, 10**7, 10**7 + 1)
    (5, 10000005, 10000001)
    """
    fee = max(wanted, before + LEAST_RAISE) if wanted > before else before
    if most - fee < LEAST_RAISE:
        fee = most if fee > before else before
    return fee if before + LEAST_RAISE <= fee <= most else before  # CH-FEE-3
