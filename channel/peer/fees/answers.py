"""Reactions to a node that does not take what we push: pins, dropped bytes and higher bids.

A pin is a bundle of another party with a spend of ours in it: we replace it by one that contains
all of it, and a higher fee. Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, Spend, joined
from channelsim.channel.chain.constants import BLOCK_COST, COST_PER_BYTE
from channelsim.channel.chain.mempool import LEAST_RATE
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.refusals import FEE_REFUSALS
from channelsim.channel.crypto import bls
from channelsim.channel.peer.fees.coins import change_of
from channelsim.channel.peer.fees.fee_state import FeeState, Offer, raised, wanted_fee
from channelsim.channel.peer.fees.fee_wallet import SPLIT, FeeWallet
from channelsim.channel.peer.fees.payment import payment
from channelsim.channel.peer.interface import (
    Dropped,
    Effect,
    Pinned,
    Push,
    Refused,
    SpendDropped,
    Tell,
)
from channelsim.channel.protocol.spend_parsing import reserved_fee

MOST_ANSWERS = 6
"""The most times that a spend is offered anew at one height: the answers come from outside."""

PAYMENT_COST = 10_000_000
"""A bit more than the spend of a fee coin costs."""

LONGER_FEE = 200_000
"""The cost of more bytes for a higher fee, and for a change that became as many bytes."""


def react(
    fee_wallet: FeeWallet | None, fee_state: FeeState, event: Pinned | Dropped | Refused
) -> tuple[FeeState, list[Effect]]:
    """Offer a spend anew, if there is a wallet for fees and a coin in it can pay for that."""
    spent = {spend.coin.id for spend in event.bundle.spends}
    offers = [
        offer for offer in fee_state.offers if offer.push.name != SPLIT and offer.key in spent
    ]
    # A replacement of one offer may contain the spends of others.
    offers.sort(key=lambda offer: offer.replacement != event.bundle)
    offer = next(iter(offers), None)
    again: tuple[Offer, Push] | None = None
    if fee_wallet is not None and offer is not None:
        answers = offer.answers if offer.height == fee_wallet.peak else 0
        if answers >= MOST_ANSWERS:
            return fee_state, []
        offer = replace(offer, height=fee_wallet.peak, answers=answers + 1)
        match event:
            case Pinned(pending=pending):
                again = _unpin(fee_wallet, fee_state, offer, pending)
            case Dropped(bundle=bundle):
                again = _renew(fee_wallet, fee_state, offer, bundle)  # CH-FEE-4
            case Refused(bundle, error) if error in FEE_REFUSALS:
                again = _bid_more(fee_wallet, fee_state, offer, bundle)
            case Refused(bundle):
                again = _without_fee(fee_wallet, offer, bundle)
    if again is not None:
        return fee_state.with_offer(again[0]), [again[1]]
    if isinstance(event, Dropped) and event.name != SPLIT:
        return _report(fee_state, event)
    return fee_state, []


def _report(fee_state: FeeState, event: Dropped) -> tuple[FeeState, list[Effect]]:
    """Notify the player, once, that the node does not take a spend any more (CH-FEE-4)."""
    key = b"".join(spend.coin.id for spend in event.bundle.spends[:1])
    if key in fee_state.dropped:
        return fee_state, []
    return replace(fee_state, dropped=(*fee_state.dropped, key)), [Tell(SpendDropped(event.name))]


# --- dropped bytes and higher bids -------------------------------------------------------------


def _renew(
    fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, bundle: Bundle
) -> tuple[Offer, Push] | None:
    """Offer what the node has dropped in other bytes: for a higher fee, or one mojo less."""
    if bundle == offer.replacement:
        offer = replace(offer, others=(), replacement=None, replacement_fee=0)
        return offer, fee_wallet.push(offer)
    offer = fee_wallet.with_coin(fee_state, offer)
    most = fee_wallet.most(fee_state, offer)
    fee = raised(offer.fee, offer.fee + LEAST_RAISE, most)
    if fee == offer.fee:
        fee = offer.fee - 1 if offer.fee > 1 else min(most, LEAST_RAISE)
    if fee in (0, offer.fee):
        return None
    offer = replace(offer, fee=fee)
    return offer, fee_wallet.push(offer)


def _without_fee(fee_wallet: FeeWallet, offer: Offer, bundle: Bundle) -> tuple[Offer, Push] | None:
    """Push a spend by itself if the node refuses it with what pays for it: a coin may be gone.

    A refused replacement has coins of others, which may be gone: the fee coin stays. A spend by
    itself can be pinned without the fee coin, and then there may be no room for it.
    """
    if bundle == offer.push.bundle:
        return None
    own = _is_ours(offer, bundle)
    offer = replace(offer, others=(), replacement=None, replacement_fee=0)
    return offer, offer.push if own else fee_wallet.push(offer)


def _bid_more(
    fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, bundle: Bundle
) -> tuple[Offer, Push] | None:
    """Double the fee of what a full mempool refuses; what has no deadline waits for a while."""
    waited = fee_wallet.peak - offer.since
    if offer.push.before is None and waited <= fee_wallet.confirmations:
        return None
    if bundle == offer.replacement:
        return _replacement(fee_wallet, fee_state, offer, offer.others, 2 * offer.replacement_fee)
    offer = fee_wallet.with_coin(fee_state, offer)
    least = max(2 * offer.fee, LEAST_RATE * offer.cost, fee_state.rate * offer.cost, LEAST_RAISE)
    fee = min(least, fee_wallet.most(fee_state, offer))
    if fee <= offer.fee:
        return None
    offer = replace(offer, fee=fee)
    return offer, fee_wallet.push(offer)


# --- pins --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Union:
    """Pending bundles with our spend but without our fee, and the coin that pays it.

    `fee` and `cost` are those of the pending bundles as they are. `rest` is the part of the fee
    that stays, and `spent` what we pay in it; `extra` is the cost of what we add.
    """

    bundle: Bundle
    payer: Coin
    fee: int
    cost: int
    rest: int
    spent: int
    extra: int

    @property
    def least(self) -> int:
        """The least that we pay in a replacement: enough more, and a higher rate (CH-FEE-3)."""
        at_rate = self.fee * (self.cost + self.extra) // max(self.cost, 1) + 1
        return max(self.fee + LEAST_RAISE, at_rate) - self.rest + self.spent

    def at_rate(self, rate: int) -> int:
        """Our fee with which all of it pays this rate."""
        return rate * (self.cost + self.extra) - self.rest + self.spent


def _unpin(
    fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, pending: tuple[PendingBundle, ...]
) -> tuple[Offer, Push] | None:
    """Replace the pending bundles that contain our spend, if they pay too little."""
    offer = fee_wallet.with_coin(fee_state, offer)
    if not pending or any(_is_ours(offer, other.bundle) for other in pending):
        return None
    if [other.bundle for other in pending] == [offer.replacement]:
        # Our own replacement, at an earlier fee.
        least = offer.replacement_fee + LEAST_RAISE
        return _replacement(fee_wallet, fee_state, offer, offer.others, least)
    cost, fee = (sum(getattr(other, name) for other in pending) for name in ("cost", "fee"))
    pays = max(fee_state.rate * offer.cost, offer.fee)
    if fee_wallet.peak == offer.since and fee * offer.cost >= pays * cost:
        return None
    # Of several nodes, each may have another pin, and they may contradict each other.
    alone = [(other,) for other in pending if other.bundle != offer.replacement]
    for others in (pending, *alone):
        again = _replacement(fee_wallet, fee_state, offer, others, 0)
        if again is not None:
            return again
    return None


def _is_ours(offer: Offer, bundle: Bundle) -> bool:
    """True for our spend alone, with or without a fee: a later offer replaces it by itself."""
    rest = {spend for spend in bundle.spends if spend.coin not in offer.coins}
    return rest == set(offer.push.bundle.spends)


def _replacement(
    fee_wallet: FeeWallet,
    fee_state: FeeState,
    offer: Offer,
    others: tuple[PendingBundle, ...],
    least: int,
) -> tuple[Offer, Push] | None:
    """Join these bundles with our spend and a fee, in all at least `least` mojos of ours."""
    union = _union(fee_wallet, offer, others)
    if union is None:
        return None
    least = max(least, union.least)
    most = min(fee_wallet.most(fee_state, offer), union.spent + union.payer.amount)
    if most < least:
        return None
    start = max(union.at_rate(fee_state.rate), least)
    fee = max(least, wanted_fee(offer, start, most, fee_wallet.peak, fee_wallet.confirmations))
    bundle = joined(union.bundle, _payment(fee_wallet, offer, union.payer, fee - union.spent))
    offer = replace(offer, others=others, replacement=bundle, replacement_fee=fee)
    return offer, Push("unpin", bundle, offer.push.stake, offer.push.before)


def _union(fee_wallet: FeeWallet, offer: Offer, others: tuple[PendingBundle, ...]) -> _Union | None:
    """The pending bundles and our spend; None if they cannot be in one bundle.

    They cannot if one of them spends our coin differently: its signatures are one sum.
    """
    first, payer, spent = None, offer.coin, 0
    if offer.second is not None and offer.coin is not None:
        first, payer = offer.coin, offer.second
        if all(spend.coin != first for other in others for spend in other.bundle.spends):
            own = _payment(fee_wallet, offer, first, min(offer.fee, first.amount))
            others = (*others, PendingBundle(own, 0, PAYMENT_COST))
    spends: dict[Coin, Spend] = {}
    for other in others:
        for spend in other.bundle.spends:
            # Several pending bundles may have the same spend if it needs no signature.
            if spends.setdefault(spend.coin, spend) != spend:
                return None
    cost, fee = (sum(getattr(other, name) for other in others) for name in ("cost", "fee"))
    size = sum(len(spend.puzzle) + len(spend.solution) for spend in spends.values())
    if max(cost, size * COST_PER_BYTE) > BLOCK_COST // 2:
        return None  # No mempool takes a bundle of more than half a block.
    wanted = offer.push.bundle.spends
    inside = [spend for spend in wanted if spend.coin in spends]
    if any(spends[spend.coin] != spend for spend in inside) or len(inside) not in (0, len(wanted)):
        return None
    signatures = [other.bundle.signature for other in others]
    if any(bls.signature(signature) is None for signature in signatures):
        return None
    signature = bls.add(*signatures)
    if first is not None:
        spent = reserved_fee(spends[first].solution)
    before = _paid_before(fee_wallet, offer, payer, spends)
    if before is not None and payer is not None:
        # Our own payment is in it: another one takes its place.
        del spends[payer]
        bundle = Bundle(tuple(spends.values()), bls.without(signature, before.bundle.signature))
        return _Union(bundle, payer, fee, cost, fee - before.fee, spent, LONGER_FEE)
    bundle, extra = Bundle(tuple(spends.values()), signature), PAYMENT_COST
    if not inside:
        bundle, extra = joined(bundle, offer.push.bundle), extra + offer.cost
    change = change_of(payer, bundle) if payer is not None else None
    if payer is None or change is None or not LEAST_RAISE <= change.amount <= payer.amount:
        return None  # It has paid all that it can, or a node has made the change up.
    return _Union(bundle, change, fee, cost, fee, spent + payer.amount - change.amount, extra)


def _payment(
    fee_wallet: FeeWallet, offer: Offer, coin: Coin, fee: int, *, spare: bool = False
) -> Bundle:
    bundle, data = offer.push.bundle, fee_wallet.agg_sig_data
    return payment(fee_wallet.key, coin, fee, bundle, data, spare=spare)


def _paid_before(
    fee_wallet: FeeWallet, offer: Offer, payer: Coin | None, spends: Mapping[Coin, Spend]
) -> PendingBundle | None:
    """Our payment for this spend that is among these spends, if we would make it like that now."""
    spend = spends.get(payer) if payer is not None else None
    if spend is None:
        return None
    fee = reserved_fee(spend.solution)
    for spare in (True, False):
        bundle = _payment(fee_wallet, offer, spend.coin, fee, spare=spare)
        if bundle.spends == (spend,):
            return PendingBundle(bundle, fee, 0)
    return None
