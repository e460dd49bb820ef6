"""Fees for the spends that are due: offered with every block, out of one wallet coin.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.fees import change_of
from channelsim.channel.peer.interface import Push
from channelsim.channel.peer.onchain.chain_view import ChainView
from channelsim.channel.peer.onchain.dispute_state import FeeBundle
from channelsim.channel.peer.onchain.findings import Due


@dataclass(frozen=True, slots=True)
class FeeOffers:
    """Bundles that pay fees, the best first, and the state of the fee coin after them.

    `coins` are those to watch. The rest is as in `Dispute`.
    """

    pushes: tuple[Push, ...]
    coins: tuple[Coin, ...]
    fee_coin: Coin | None
    changes: frozenset[Coin]
    fee_bundle: FeeBundle | None


def offer_fees(view: ChainView, due: Sequence[Due]) -> FeeOffers:
    """Offer fees for what is urgent: for all of it in one bundle, and for each spend by itself.

    Only the first of these bundles that gets in has the fee coin. So what has no deadline is in
    the first bundle alone, and at its end: the other side can make a claim impossible. These
    bundles are pushed before the spends without a fee: a thief could put each of those into a
    bundle with a coin of its own, and then only one of them could be paid for with every block.
    """
    dispute = view.dispute
    coin, looked_for = _fee_coin(view)
    fees = dispute.fees
    if fees is None or coin is None:
        return FeeOffers((), looked_for, dispute.fee_coin, dispute.changes, None)
    urgent = _in_turn(view.peak, (one for one in due if one.worth is None))
    leisurely = _in_turn(
        view.peak,
        (
            one
            for one in due
            if one.worth is not None and one.waited >= 0 and fees.after(one.waited) < one.worth
        ),
    )
    pushes: list[Push] = []
    changes = set(dispute.changes)
    first: FeeBundle | None = None
    groups = [(*urgent, *leisurely), urgent, *((one,) for one in (*urgent, *leisurely))]
    for group in dict.fromkeys(groups):
        # Each spend has its fee, so that a bundle with one more replaces the one without.
        fee = min(sum(fees.after(one.waited) for one in group), coin.amount)
        if fee <= 0:
            continue
        bundles = tuple(one.push.bundle for one in group)
        bundle = fees.paid(bundles, coin, fee, dispute.endpoint.channel.agg_sig_data)
        changes.add(fees.change(coin, fee))
        pushes.append(Push(f"{group[0].push.name}+fee", bundle))
        first = first or FeeBundle(bundle, bundles, fee)
    return FeeOffers(tuple(pushes), looked_for, coin, frozenset(changes), first)


def _fee_coin(view: ChainView) -> tuple[Coin | None, tuple[Coin, ...]]:
    """The coin that can pay the next fee, and the coins to watch.

    It is found from the wallet's coin on with every block: a reorganisation may have taken its
    change back.
    """
    dispute = view.dispute
    if dispute.fees is None:
        return None, ()
    coin = dispute.fees.wallet.coin
    looked_for, seen = [coin], view.seen(coin)
    if seen is None:
        return None, (coin,)
    while seen is not None and seen.spent is not None:
        change = change_of(coin, seen.solution or b"")
        if change is None:
            # A miner can make the solution of our spend too large for a node to give: then we
            # recognise the change that we offered, among the coins that the spend created.
            change = next((one for one in view.children(coin) if one in dispute.changes), None)
        if change is None:
            return None, tuple(looked_for)
        # It is there, whether the block has it yet or not.
        coin, seen = change, view.seen(change)
        looked_for.append(coin)
    return coin, tuple(looked_for)


def _in_turn(peak: int, due: Iterable[Due]) -> tuple[Due, ...]:
    """The spends, beginning with another one in every block."""
    spends = tuple(due)
    turn = peak % max(len(spends), 1)
    return spends[turn:] + spends[:turn]
