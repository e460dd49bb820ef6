"""Fees for spends of ours that lie in the mempool among somebody else's, at a low fee.

Source: the state channel, "Going on chain", Fees.
"""

from __future__ import annotations

from channel.chain.coins import Bundle
from channel.crypto import bls
from channel.peer.fees import left_of
from channel.peer.interface import Effect, Push
from channel.peer.onchain.dispute_state import Dispute


def unpin(dispute: Dispute, bundle: Bundle, pending: tuple[Bundle, ...]) -> list[Effect]:
    """Pay for somebody's bundle that contains our spends, with a fee coin of our own.

    That is how a spend of ours is unpinned that lies in the mempool with another one, at a low
    fee: a replacement has to contain all of what it replaces. Where it has our fee coin already,
    the change of that pays what is missing: the thief's coin forbids to spend it anew.
    """
    offer = dispute.fee_bundle
    if offer is not None and len(offer.parts) > 1 and bundle == offer.bundle:
        parts = offer.parts
    elif dispute.fee_coin is None or dispute.fee_coin in {spend.coin for spend in bundle.spends}:
        # What pays already, and is still refused, is not helped by paying once more.
        return []
    else:
        parts = (bundle,)
    joined = _joined(dispute, parts, tuple(dict.fromkeys(pending)))
    return [Push("unpin", joined)] if joined is not None else []


def _joined(
    dispute: Dispute, parts: tuple[Bundle, ...], pending: tuple[Bundle, ...]
) -> Bundle | None:
    """What is pending, what of ours is in none of it, and a fee for all.

    What contradicts one of our spends is left alone, with all that it contradicts. None where
    nothing of ours is pending or made impossible, or enough is paid for it.
    """
    fees, coin = dispute.fees, dispute.fee_coin
    if fees is None or coin is None:
        return None
    wanted = {spend.coin: spend.solution for part in parts for spend in part.spends}
    others = [
        other
        for other in pending
        if all(wanted.get(one.coin, one.solution) == one.solution for one in other.spends)
    ]
    there = {spend.coin for other in pending for spend in other.spends}
    rest = [part for part in parts if not there & {spend.coin for spend in part.spends}]
    has_ours = any(spend.coin in wanted for other in others for spend in other.spends)
    if not has_ours and len(rest) in (0, len(parts)):
        return None
    signature = bls.add(*(one.signature for one in (*others, *rest)))
    union = Bundle(tuple(spend for one in (*others, *rest) for spend in one.spends), signature)
    left = left_of(coin, union)
    if left is None:
        return None
    purse, paid = left
    offered = dispute.fee_bundle.fee if dispute.fee_bundle else 0
    # With more in it than there was, it has to pay more, too.
    more = min(max(max(offered, 1) - paid, int(bool(rest))), purse.amount)
    if more <= 0:
        return None
    return fees.paid((union,), purse, more, dispute.endpoint.channel.agg_sig_data)
