"""The spend of a fee coin as CH-FEE-1 and CH-FEE-2 want it, and the fee that is due by CH-FEE-3.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Set

from channelsim.channel.chain.coins import Spend
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.simulation.promises.fee_offers import Offered
from channelsim.games.amounts import counted

PATIENCE = 20
"""Blocks in which the fee of a spend without a deadline rises to its maximum."""

TOLERANCE = 0.9
"""The part of a wanted fee that is enough: the cost of a spend depends on its fee a little."""


def wrong_payment(
    name: str,
    offer: Offered,
    address: bytes,
    ours: Set[bytes],
    splits: Container[frozenset[Spend]] = (),
) -> Iterator[str]:
    """Find conditions that the spend of a fee coin at this address must not have, or lacks.

    It pays for the spend of one of `ours`, by id, unless it is one of the `splits` of fee coins.
    """
    if len(offer.coins) < len(offer.bundle.spends):
        yield f"CH-FEE-2: a coin is spent twice in its {name}"
    for payment in offer.payments:
        if payment.others or len(payment.fees) != 1:
            yield f"CH-FEE-1: the fee of its {name} has other conditions or no fee"
        if any(other != address for other, _ in payment.made):
            yield f"CH-FEE-1: the change of its {name} goes to another address"
        if payment.missing:
            lost = counted(payment.missing, "mojo")
            yield f"CH-FEE-2: {lost} of the change of its {name} are lost"
        if not payment.asserted <= offer.coins:
            yield f"CH-FEE-2: the fee of its {name} asserts a coin that it does not spend"
        is_split = frozenset((payment.spend,)) in splits
        if offer.spends and not payment.asserted & ours and not is_split:
            yield f"CH-FEE-2: the fee of its {name} asserts no spend of its own"


def wanted_fee(
    asked: float, room: int, before: int | None, since: int, peak: int, confirmations: int
) -> float:
    """The fee at `peak` of a spend that is due since then: from what is asked to the maximum.

    Without a deadline, `before`, it stays what a node has `asked`, in mojos, for `confirmations`
    blocks, and then rises for `PATIENCE` blocks.

    >>> most = 16 * LEAST_RAISE
    >>> [wanted_fee(LEAST_RAISE, most, 12, 0, peak, 3) / LEAST_RAISE for peak in (0, 4, 8)]
    [1.0, 4.0, 16.0]
    >>> [wanted_fee(LEAST_RAISE, most, None, 0, peak, 3) / LEAST_RAISE for peak in (3, 13, 23)]
    [1.0, 4.0, 16.0]
    """
    start, waited = min(max(asked, LEAST_RAISE), room), peak - since
    if before is None:
        waited, within = waited - confirmations, PATIENCE
    else:
        within = max(1, 2 * (before - since) // 3)
    if not start or (before is None and waited <= 0):
        return min(asked, room)
    return float(start * (room / start) ** min(1.0, max(0, waited) / within))
