"""The maxima of fees that a player sets as the process of its peer starts again."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.fees.fee_state import limits_of
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.machine import Peer

NOT_GIVEN = FeeLimits(None, None)
"""No maxima of the player's own."""


def changed_limits(peer: Peer, asked: FeeLimits, directory: Path) -> FeeLimits | None:
    """The maxima that a peer has from now on, None if they stay; `asked` are the player's options.

    Raises `UsageError` if there is no coin that fees can be paid from.
    """
    if asked == NOT_GIVEN:
        return None
    fees = peer.config.fees
    if fees is None:
        if 0 in (asked.per_spend, asked.per_channel):
            return None
        raise UsageError(
            f"{directory}: --max-fee: the channel took the wallet's whole coin: no fees can be paid"
        )
    now = limits_of(fees, peer.state.fees)
    after = FeeLimits(
        now.per_spend if asked.per_spend is None else asked.per_spend,
        now.per_channel if asked.per_channel is None else asked.per_channel,
    )
    if asked.per_spend is None and after.per_spend == 0 and asked.per_channel:
        raise UsageError(f"{directory}: the most for a spend is 0 there: give --max-fee as well")
    if asked.per_channel is None and after.per_channel == 0 and asked.per_spend:
        raise UsageError(f"{directory}: the most for all is 0 there: give --max-fees as well")
    return after if after != now else None
