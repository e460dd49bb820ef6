"""Unpinning: a higher fee for our spends that another party bundled at a low fee.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle, joined
from channelsim.channel.peer.fees import left_of
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.peer.onchain.dispute_state import Dispute


def unpin(dispute: Dispute, bundle: Bundle, pending: tuple[Bundle, ...]) -> list[Effect]:
    """Replace the pending bundles that our `bundle` conflicts with, at a higher fee.

    A replacement has to contain all that it replaces, so it contains the other spends as well.
    If our fee coin is among them, its change pays what is missing: spending the fee coin again
    would conflict with the other spends.
    """
    offer = dispute.fee_bundle
    if offer is not None and len(offer.parts) > 1 and bundle == offer.bundle:
        parts = offer.parts
    elif dispute.fee_coin is None or dispute.fee_coin in {spend.coin for spend in bundle.spends}:
        # It pays a fee and is still refused: another fee would not help.
        return []
    else:
        parts = (bundle,)
    joined = _joined(dispute, parts, tuple(dict.fromkeys(pending)))
    return [Push("unpin", joined)] if joined is not None else []


def _joined(
    dispute: Dispute, parts: tuple[Bundle, ...], pending: tuple[Bundle, ...]
) -> Bundle | None:
    """Join the pending bundles, our parts that are in none of them, and a fee for all.

    A pending bundle that spends a coin of ours differently is left out, and so are our parts
    that it conflicts with. None if nothing of ours is pending or prevented, or the fee suffices.
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
    union = joined(*others, *rest)
    left = left_of(coin, union)
    if left is None:
        return None
    change, paid = left
    offered = dispute.fee_bundle.fee if dispute.fee_bundle else 0
    # A larger bundle has to pay more than the one that it replaces.
    more = min(max(max(offered, 1) - paid, int(bool(rest))), change.amount)
    if more <= 0:
        return None
    return fees.paid((union,), change, more, dispute.endpoint.channel.agg_sig_data)
