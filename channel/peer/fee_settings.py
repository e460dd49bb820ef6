"""Settings of the fees that a peer pays on chain."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet

SHARE_OF_SPEND = 100
"""By default, a fee is at most one part in so many of what is at stake for its spend."""

SHARE_OF_CHANNEL = 20
"""By default, all fees are at most one part in so many of the channel's money."""

SPENDS_AT_MAXIMUM = 20
"""By default, so many spends may cost the maximum that a player names for a spend."""


@dataclass(frozen=True, slots=True)
class Fees:
    """The wallet coin that fees are paid from, and the most that we pay, in mojos.

    `per_spend` is None for a share of what is at stake; `per_channel` for a share of the channel's
    money, or several times `per_spend` if that is more.
    """

    wallet: Wallet
    per_spend: int | None = None
    per_channel: int | None = None


def rest_of(wallet: Wallet, side: Side, contribution: int) -> Wallet | None:
    """The coin that a wallet has left once it has funded a channel: its change, if there is any.

    A receiver that contributes nothing spends no coin, and keeps the one that it has.
    """
    kept = side is Side.RECEIVER and not contribution
    coin = wallet.coin if kept else wallet.change(contribution)
    return Wallet(wallet.key, coin) if coin is not None else None
