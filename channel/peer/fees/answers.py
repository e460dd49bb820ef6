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
from channelsim.channel.chain.refusals import FEE_REFUSALS, UNKNOWN_UNSPENT, is_judged
from channelsim.channel.chain.validation import checked
from channelsim.channel.crypto import bls
from channelsim.channel.peer.fees.coins import change_of, paid_by
from channelsim.channel.peer.fees.fee_state import (
    FeeState,
    Offer,
    raised,
    wanted_fee,
)
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
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
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
    if fee_wallet is not None and fee_wallet.is_used and offer is not None:
        answers = offer.answers if offer.height == fee_wallet.peak else 0
        if answers >= MOST_ANSWERS:
            return fee_state, []
        offer = replace(offer, height=fee_wallet.peak, answers=answers + 1)
        match event:
            case Pinned():
                again = _unpin(fee_wallet, fee_state, offer, event)
            case Dropped(bundle=bundle):
                again = _renew(fee_wallet, fee_state, offer, bundle)  # CH-FEE-4
            case Refused(bundle, error) if error in FEE_REFUSALS:
                again = _bid_more(fee_wallet, fee_state, offer, bundle)
            case Refused(bundle, error) if is_judged(error) or _has_waited(fee_wallet, offer):
                again = _without_fee(fee_wallet, offer, bundle, error)
            case Refused():
                pass  # It is offered again with the next block: the node is busy.
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


def _without_fee(
    fee_wallet: FeeWallet, offer: Offer, bundle: Bundle, error: str
) -> tuple[Offer, Push] | None:
    """Push a spend by itself if the node refuses it with what pays for it: a coin may be gone.

    A refused replacement has coins of others, which may be gone: the fee coin stays. A spend by
    itself can be pinned without the fee coin, and then there may be no room for it. So it waits for
    a node that does not know a coin, which may know it with the next block, if there is time.
    """
    if bundle == offer.push.bundle:
        return None
    own = _is_ours(offer, bundle)
    if own and error == UNKNOWN_UNSPENT and _can_wait(fee_wallet, offer):
        return None
    offer = replace(offer, others=(), replacement=None, replacement_fee=0)
    return offer, offer.push if own else fee_wallet.push(offer)


def _bid_more(
    fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, bundle: Bundle
) -> tuple[Offer, Push] | None:
    """Bid a quarter more for what a full mempool refuses; what has no deadline waits for a while.

    It rises with the blocks, too, and begins at the rate that the node asks by now.
    """
    if offer.push.before is None and not _has_waited(fee_wallet, offer):
        return None
    if bundle == offer.replacement:
        return _replacement(
            fee_wallet, fee_state, offer, offer.others, _more(offer.replacement_fee)
        )
    offer = fee_wallet.with_coin(fee_state, offer)
    least = max(_more(offer.fee), LEAST_RATE * offer.cost, fee_state.rate * offer.cost, LEAST_RAISE)
    fee = min(least, fee_wallet.most(fee_state, offer))
    if fee < min(least, offer.fee + LEAST_RAISE):
        return None  # a smaller step can lead back to bytes that the node has dropped
    offer = replace(offer, fee=fee)
    return offer, fee_wallet.push(offer)


def _has_waited(fee_wallet: FeeWallet, offer: Offer) -> bool:
    return fee_wallet.peak - offer.since > fee_wallet.confirmations


def _can_wait(fee_wallet: FeeWallet, offer: Offer) -> bool:
    """True for a new offer whose deadline, if it has one, is not near."""
    before = offer.push.before
    is_near = before is not None and before - fee_wallet.peak <= fee_wallet.confirmations + 1
    return not is_near and not _has_waited(fee_wallet, offer)


def _more(fee: int) -> int:
    return fee + -(-fee // 4)


# --- pins --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Union:
    """Pending bundles with our spend but without our fee, and the coin that pays it.

    `fee` and `cost` are those of the pending bundles as they are. `rest` is the part of the fee
    that stays, and `spent` what we pay in it; `extra` is the cost of what we add. `unpaid` is what
    the first of two coins does not pay in it, but could in another bundle beside the second one.
    """

    bundle: Bundle
    payer: Coin
    fee: int
    cost: int
    rest: int
    spent: int
    extra: int
    unpaid: int

    @property
    def least(self) -> int:
        """The least that we pay in a replacement: enough more, and a higher rate (CH-FEE-3)."""
        at_rate = self.fee * (self.cost + self.extra) // max(self.cost, 1) + 1
        return max(self.fee + LEAST_RAISE, at_rate) - self.rest + self.spent

    def at_rate(self, rate: int) -> int:
        """Our fee with which all of it pays this rate."""
        return rate * (self.cost + self.extra) - self.rest + self.spent


def _unpin(
    fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, pinned: Pinned
) -> tuple[Offer, Push] | None:
    """Replace the pending bundles that contain our spend, if they pay too little."""
    offer = fee_wallet.with_coin(fee_state, offer)
    # Of several nodes, some may have our own offer, which a later one replaces, and some a pin.
    pending = tuple(other for other in pinned.pending if not _is_ours(offer, other.bundle))
    is_there = len(pending) < len(pinned.pending)
    if not pending:
        return None
    if [other.bundle for other in pending] == [offer.replacement]:
        # Our own replacement, at an earlier fee.
        least = offer.replacement_fee + LEAST_RAISE
        return _replacement(fee_wallet, fee_state, offer, offer.others, least)
    cost, fee = (sum(getattr(other, name) for other in pending) for name in ("cost", "fee"))
    pays = max(fee_state.rate * offer.cost, offer.fee)
    if fee_wallet.peak == offer.since and fee * offer.cost >= pays * cost:
        return None
    pending = _in_the_way(fee_wallet, offer, pending)
    if not pending:
        # The node has dropped ours.
        return None if is_there else _renew(fee_wallet, fee_state, offer, pinned.bundle)
    # Of several nodes, each may have another pin, and they may contradict each other. One that a
    # node makes up is there for ever: each answer begins with the next of the choices.
    alone = [(other,) for other in pending if other.bundle != offer.replacement]
    choices = [pending, *alone] if len(pending) > 1 else [pending]
    turn = MOST_ANSWERS * (fee_wallet.peak - offer.since) + offer.answers - 1
    turn %= len(choices)
    for others in (*choices[turn:], *choices[:turn]):
        again = _replacement(fee_wallet, fee_state, offer, others, 0)
        # The one that was just pushed was in vain.
        if again is not None and again[1].bundle != pinned.bundle:
            return again
    return _unpin_checked(fee_wallet, fee_state, offer, pending)


def _unpin_checked(
    fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, pending: tuple[PendingBundle, ...]
) -> tuple[Offer, Push] | None:
    """Replace a pin of which a node says another fee or cost than it has.

    One is run for each height, in turn, and at most twice: that takes as long as half a block, and
    a node can make pins up.
    """
    other = pending[fee_wallet.peak % len(pending)]
    valid = checked(other.bundle, fee_wallet.agg_sig_data) if offer.answers <= 2 else None
    if valid is None:
        return None
    known = PendingBundle(other.bundle, valid.fee, valid.cost)
    return _replacement(fee_wallet, fee_state, offer, (known,), 0)


def _in_the_way(
    fee_wallet: FeeWallet, offer: Offer, pending: tuple[PendingBundle, ...]
) -> tuple[PendingBundle, ...]:
    """The bundles beside which no mempool takes our spend with another fee.

    Mempools have identical spends that need no signature in several bundles.
    """
    own = offer.push.bundle
    valid = checked(own, fee_wallet.agg_sig_data) if own.signature == NO_SIGNATURE else None
    if valid is None or not all(spend.repeatable for spend in valid.spends.values()):
        return pending
    ours = {spend.coin: spend for spend in own.spends}
    return tuple(
        other
        for other in pending
        if any(
            spend.coin in offer.coins or ours.get(spend.coin, spend) != spend
            for spend in other.bundle.spends
        )
    )


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
    least = max(least, union.least, union.spent)
    most = fee_wallet.most(fee_state, offer) - union.unpaid
    most = min(most, union.spent + union.payer.amount)
    if most < least:
        return None
    start = max(union.at_rate(fee_state.rate), least)
    fee = max(least, wanted_fee(offer, start, most, fee_wallet.peak, fee_wallet.confirmations))
    bundle = joined(union.bundle, _payment(fee_wallet, offer, union.payer, fee - union.spent))
    offered = max(offer.offered, fee + union.unpaid)
    offer = replace(offer, others=others, replacement=bundle, replacement_fee=fee, offered=offered)
    return offer, Push("unpin", bundle, offer.push.stake, offer.push.before)


def _union(fee_wallet: FeeWallet, offer: Offer, others: tuple[PendingBundle, ...]) -> _Union | None:
    """The pending bundles and our spend; None if they cannot be in one bundle.

    They cannot if one of them spends our coin differently: its signatures are one sum. Nor if two
    have our signed spend: its signature would be in the sum twice.
    """
    if not offer.coins:
        return None
    spends: dict[Coin, Spend] = {}
    signed = set(offer.coins)
    if offer.push.bundle.signature != NO_SIGNATURE:
        signed.update(spend.coin for spend in offer.push.bundle.spends)
    for other in others:
        for spend in other.bundle.spends:
            # Several pending bundles may have the same spend if it needs no signature.
            same = spends.get(spend.coin)
            if same is not None and (same != spend or spend.coin in signed):
                return None
            spends[spend.coin] = spend
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
    bundle, rest, extra = Bundle(tuple(spends.values()), signature), fee, 0
    for coin in offer.coins:
        before = _paid_before(fee_wallet, offer, coin, spends)
        if before is not None:
            # Our own payment is in it: another one takes its place.
            del spends[coin]
            signature = bls.without(bundle.signature, before.bundle.signature)
            bundle, rest = Bundle(tuple(spends.values()), signature), rest - before.fee
        extra += PAYMENT_COST if before is None else LONGER_FEE
    if not inside:
        bundle, extra = joined(bundle, offer.push.bundle), extra + offer.cost
    spent = unpaid = 0
    if len(offer.coins) > 1:
        # The first of two coins pays what it can.
        first = offer.coins[0]
        if first not in spends:
            own = min(offer.fee, first.amount)
            bundle, rest = joined(bundle, _payment(fee_wallet, offer, first, own)), rest + own
            spent, unpaid = own, first.amount - own
        else:
            spent = reserved_fee(spends[first].solution)
            unpaid = first.amount - spent
            if not 0 <= spent <= first.amount:
                return None  # A node has made it up.
    payer = offer.coins[-1]
    change, paid = change_of(payer, bundle), paid_by(payer, bundle)
    if change is None or paid < 0 or not LEAST_RAISE <= change.amount <= payer.amount:
        return None  # It has paid all that it can, or a node has made the change up.
    spent += paid
    return _Union(bundle, change, fee, cost, rest, spent, extra, unpaid)


def _payment(
    fee_wallet: FeeWallet, offer: Offer, coin: Coin, fee: int, *, spare: bool = False
) -> Bundle:
    bundle, data = offer.push.bundle, fee_wallet.agg_sig_data
    return payment(fee_wallet.key, coin, fee, bundle, data, spare=spare)


def _paid_before(
    fee_wallet: FeeWallet, offer: Offer, coin: Coin, spends: Mapping[Coin, Spend]
) -> PendingBundle | None:
    """Our payment for this spend that is among these spends, if we would make it like that now."""
    spend = spends.get(coin)
    if spend is None:
        return None
    fee = reserved_fee(spend.solution)
    for spare in (True, False):
        bundle = _payment(fee_wallet, offer, spend.coin, fee, spare=spare)
        if bundle.spends == (spend,):
            return PendingBundle(bundle, fee, 0)
    return None
