"""Fees for what a peer pushes: each spend that is due gets a fee coin of its own, and a fee.

This is the last step of a transition: it takes the spends that the peer pushes, and adds fees.
Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.peer.fees.book import FeeBook, Offer, key_of, raised, wanted_fee
from channelsim.channel.peer.fees.payment import split
from channelsim.channel.peer.fees.purse import SPLIT, Purse, cost_of_ours
from channelsim.channel.peer.interface import Effect, FeeTooLow, Push, Tell, Watch
from channelsim.channel.protocol.spend_parsing import created_coins


def pay(
    purse: Purse, book: FeeBook, effects: list[Effect], *, ready: int, scan: bool
) -> tuple[FeeBook, list[Effect]]:
    """Add fees to the pushes among these effects.

    So many fee coins are kept `ready`. `scan`: these are the effects of a block, with all spends
    that are due.
    """
    pushes = [effect for effect in effects if isinstance(effect, Push)]
    if not purse.is_used:
        return book, effects
    if scan:
        book = book.only([*map(key_of, pushes), *_splits(purse, book)])
    after: list[Effect] = []
    for effect in effects:
        if isinstance(effect, Push):
            book, more = _offer(purse, book, effect)
            after += more
        else:
            after.append(effect)
    if scan:
        book, more = _split(purse, book, ready)
        after += more
    new = [coin for coin in purse.coins.watched if coin not in book.watched]
    if new:
        book = replace(book, watched=(*book.watched, *new))
    return book, [*after, *map(Watch, new)]


def _offer(purse: Purse, book: FeeBook, push: Push) -> tuple[FeeBook, list[Effect]]:
    """Offer what this spend is worth now."""
    before = book.offer(key_of(push))
    offer = before or Offer(push, purse.peak)
    if offer.push != push:
        offer = purse.with_cost(replace(offer, push=push))
    offer = purse.with_coin(book, offer)
    most = purse.most(book, offer)
    start = min(book.rate * offer.cost, most)
    wanted = wanted_fee(offer, start, most, purse.peak, purse.confirmations)
    offer = replace(offer, fee=raised(offer.fee, wanted, most) if before else wanted)
    news: list[Effect] = []
    if _is_stuck(purse, book, offer, most):
        news.append(Tell(FeeTooLow(push.name, offer.fee)))
        offer = replace(offer, reported=True)
    if offer != before:
        book = book.with_offer(offer)
    return book, [purse.push(offer), *news]


def _is_stuck(purse: Purse, book: FeeBook, offer: Offer, most: int) -> bool:
    """True if a spend with a deadline waits though its fee rises no more; the player knows once."""
    if offer.push.before is None or offer.reported or offer.fee + LEAST_RAISE <= most:
        return False
    if any(coin not in book.watched for coin in purse.coins.watched):
        return False  # The next report of this block has more coins that can pay.
    return purse.peak - offer.since > purse.confirmations


# --- fee coins ---------------------------------------------------------------------------------


def _splits(purse: Purse, book: FeeBook) -> list[bytes]:
    """The coins that are being split."""
    splits = (offer for offer in book.offers if offer.push.name == SPLIT)
    return [offer.key for offer in splits if offer.coin in purse.coins.unspent]


def _split(purse: Purse, book: FeeBook, ready: int) -> tuple[FeeBook, list[Effect]]:
    """Split a coin into fee coins if fewer than `ready` are there, and until that is confirmed."""
    pending = next((offer for offer in book.offers if offer.push.name == SPLIT), None)
    others = [offer for offer in book.offers if offer.push.name != SPLIT]
    payers = [other for other in others if pending is not None and other.coin == pending.coin]
    # A spend with a lock cannot replace it, and waits for it: then it has to pay as much.
    urgent = [other.fee for other in payers if other.since < purse.peak]
    if pending is not None and not urgent and (payers or not ready):
        return book, []  # it may get in, and counts until its coin is spent
    offer = pending or _new_split(purse, book, ready)
    coin = offer.coin if offer is not None else None
    if offer is None or coin is None:
        return book, []
    most = min(purse.most(book, offer), _rest(offer.push.bundle))
    start = min(book.rate * offer.cost, most)
    wanted = wanted_fee(offer, start, most, purse.peak, purse.confirmations)
    wanted = max([wanted, *urgent])
    offer = replace(offer, fee=raised(offer.fee, wanted, most) if pending else wanted)
    *pieces, _ = (amount for _, amount in created_coins(offer.push.bundle.spends[0].solution))
    bundle = split(purse.key, coin, pieces, offer.fee, purse.agg_sig_data)
    return book.with_offer(offer), [Push(SPLIT, bundle)]


def _new_split(purse: Purse, book: FeeBook, ready: int) -> Offer | None:
    """Split the largest free coin, if more are needed: each piece can pay for one spend."""
    free, coins = purse.free(book), purse.coins.unspent
    size = min(purse.usual_fee, sum(coin.amount for coin in coins) // (ready + 2))
    missing = ready - sum(2 * coin.amount >= size for coin in coins)
    if missing <= 0 or not free or size < LEAST_RAISE:
        return None
    coin = free[-1]
    size = min(size, coin.amount // (missing + 2))
    # Coins of one spend at one address differ in their amounts.
    amounts = [size + number for number in range(missing)]
    if coin.amount - sum(amounts) - LEAST_RAISE <= amounts[-1]:
        return None
    bundle = split(purse.key, coin, amounts, 0, purse.agg_sig_data)
    cost = cost_of_ours(bundle)
    stake = purse.total if purse.limits.per_spend is None else coin.amount
    return Offer(Push(SPLIT, bundle, stake), purse.peak, coin, cost)


def _rest(bundle: Bundle) -> int:
    """The most that a split can pay: its last coin stays the largest."""
    amounts = [amount for _, amount in created_coins(bundle.spends[0].solution)]
    return amounts[-1] - amounts[-2] - 1
