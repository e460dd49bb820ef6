"""Fees for what a peer pushes: each spend that is due gets a fee coin of its own, and a fee.

This is the last step of a transition: it takes the spends that the peer pushes, and adds fees.
Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.peer.fees.fee_state import FeeState, Offer, key_of, raised, wanted_fee
from channelsim.channel.peer.fees.fee_wallet import SPLIT, FeeWallet
from channelsim.channel.peer.fees.payment import split
from channelsim.channel.peer.interface import Effect, FeeTooLow, Push, Tell, Watch
from channelsim.channel.protocol.spend_parsing import created_coins


def pay(
    fee_wallet: FeeWallet, fee_state: FeeState, effects: list[Effect], *, ready: int, scan: bool
) -> tuple[FeeState, list[Effect]]:
    """Add fees to the pushes among these effects.

    So many fee coins are kept `ready`. `scan`: these are the effects of a block, with all spends
    that are due.
    """
    pushes = [effect for effect in effects if isinstance(effect, Push)]
    if not fee_wallet.is_used:
        return fee_state, effects
    unspent = fee_wallet.coins.unspent
    if scan:
        due = [*map(key_of, pushes), *_splits(fee_wallet, fee_state)]
        fee_state = fee_state.only(due, fee_wallet.final)
    # A coin that paid for a spend before a reorganisation is left to that spend.
    paid_before = {past.key for past in fee_state.past if past.coin in unspent}
    paid: dict[Push, list[Effect]] = {}
    for push in sorted(pushes, key=lambda push: key_of(push) not in paid_before):
        fee_state, paid[push] = _offer(fee_wallet, fee_state, push)
    after: list[Effect] = []
    for effect in effects:
        after += paid[effect] if isinstance(effect, Push) else [effect]
    if scan:
        fee_state, more = _split(fee_wallet, fee_state, ready)
        after += more
    new = [coin for coin in fee_wallet.coins.watched if coin not in fee_state.watched]
    if new:
        fee_state = replace(fee_state, watched=(*fee_state.watched, *new))
    return fee_state, [*after, *map(Watch, new)]


def _offer(fee_wallet: FeeWallet, fee_state: FeeState, push: Push) -> tuple[FeeState, list[Effect]]:
    """Offer what this spend is worth now."""
    before = fee_state.offer(key_of(push))
    offer = before or Offer(push, fee_wallet.peak)
    if offer.push != push:
        offer = fee_wallet.with_cost(replace(offer, push=push))
    offer = fee_wallet.with_coin(fee_state, offer)
    if offer.coin is None and _has_new_coins(fee_wallet, fee_state):
        return fee_state, []  # alone, it could be pinned before that report
    most = fee_wallet.most(fee_state, offer)
    start = min(fee_state.rate * offer.cost, most)
    wanted = wanted_fee(offer, start, most, fee_wallet.peak, fee_wallet.confirmations)
    offer = replace(offer, fee=raised(offer.fee, wanted, most) if before else wanted)
    news: list[Effect] = []
    if _is_stuck(fee_wallet, fee_state, offer, most):
        news.append(Tell(FeeTooLow(push.name, offer.fee)))
        offer = replace(offer, reported=True)
    if offer != before:
        fee_state = fee_state.with_offer(offer)
    return fee_state, [fee_wallet.push(offer), *news]


def _is_stuck(fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, most: int) -> bool:
    """True if a spend with a deadline waits though its fee rises no more; the player knows once."""
    if offer.push.before is None or offer.reported or offer.fee + LEAST_RAISE <= most:
        return False
    if _has_new_coins(fee_wallet, fee_state):
        return False
    return fee_wallet.peak - offer.since > fee_wallet.confirmations


def _has_new_coins(fee_wallet: FeeWallet, fee_state: FeeState) -> bool:
    """True if the next report of this block has more coins that can pay."""
    return any(coin not in fee_state.watched for coin in fee_wallet.coins.watched)


# --- fee coins ---------------------------------------------------------------------------------


def _splits(fee_wallet: FeeWallet, fee_state: FeeState) -> list[bytes]:
    """The coins that are being split."""
    splits = (offer for offer in fee_state.offers if offer.push.name == SPLIT)
    return [offer.key for offer in splits if offer.coin in fee_wallet.coins.unspent]


def _split(fee_wallet: FeeWallet, fee_state: FeeState, ready: int) -> tuple[FeeState, list[Effect]]:
    """Split a coin into fee coins if fewer than `ready` are there, and until that is confirmed."""
    pending = next((offer for offer in fee_state.offers if offer.push.name == SPLIT), None)
    others = [offer for offer in fee_state.offers if offer.push.name != SPLIT]
    payers = [other for other in others if pending is not None and pending.coin in other.coins]
    # A spend with a lock cannot replace it, and waits for it: then it has to pay as much.
    urgent = [other.fee for other in payers if other.since < fee_wallet.peak]
    if pending is not None and not urgent and (payers or not ready):
        return fee_state, []  # it may get in, and counts until its coin is spent
    if pending is None and _has_new_coins(fee_wallet, fee_state):
        return fee_state, []  # an earlier split may have made enough
    offer = pending or _new_split(fee_wallet, fee_state, ready)
    coin = offer.coin if offer is not None else None
    if offer is None or coin is None:
        return fee_state, []
    most = min(fee_wallet.most(fee_state, offer), _rest(offer.push.bundle))
    # What it prepares has to be paid, too.
    usual = min(most, fee_wallet.most_for_splits)
    start = min(fee_state.rate * offer.cost, usual)
    wanted = wanted_fee(offer, start, usual, fee_wallet.peak, fee_wallet.confirmations)
    wanted = max([wanted, *urgent])
    offer = replace(offer, fee=raised(offer.fee, wanted, most) if pending else wanted)
    *pieces, _ = (amount for _, amount in created_coins(offer.push.bundle.spends[0].solution))
    bundle = split(fee_wallet.key, coin, pieces, offer.fee, fee_wallet.agg_sig_data)
    return fee_state.with_offer(offer), [Push(SPLIT, bundle)]


def _new_split(fee_wallet: FeeWallet, fee_state: FeeState, ready: int) -> Offer | None:
    """Split the largest free coin, if more are needed: each piece can pay for one spend."""
    free, coins = fee_wallet.free(fee_state), fee_wallet.coins.unspent
    size = min(fee_wallet.usual_fee, sum(coin.amount for coin in coins) // (ready + 2))
    if not free or size < LEAST_RAISE:
        return None
    coin, enough = free[-1], (size + 1) // 2
    missing = ready - sum(coin.amount >= enough for coin in coins)
    # Pieces of less would be missing still, and there would be another split with each block.
    missing = min(missing, coin.amount // enough - 2)
    if missing <= 0:
        return None
    size = min(size, coin.amount // (missing + 2))
    # Coins of one spend at one address differ in their amounts.
    amounts = [size + number for number in range(missing)]
    if coin.amount - sum(amounts) - LEAST_RAISE <= amounts[-1]:
        return None
    bundle = split(fee_wallet.key, coin, amounts, 0, fee_wallet.agg_sig_data)
    cost = cost_of(bundle)
    stake = fee_wallet.total if fee_wallet.limits.per_spend is None else coin.amount
    return Offer(Push(SPLIT, bundle, stake), fee_wallet.peak, coin, cost)


def _rest(bundle: Bundle) -> int:
    """The most that a split can pay: its last coin stays the largest."""
    amounts = [amount for _, amount in created_coins(bundle.spends[0].solution)]
    return amounts[-1] - amounts[-2] - 1
