"""Fees of a channel: the coin that they are paid from, and the maxima that the player chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from channelsim.channel.cli.messages import complain
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fee_settings import Fees, rest_of
from channelsim.channel.peer.fees.fee_state import limits_of, most_for_all
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.wallet import Wallet
from channelsim.games.amounts import counted

NOT_GIVEN = FeeLimits(None, None)
"""No maxima of the player's own."""

# --- a new channel -----------------------------------------------------------------------------


def with_fees(config: Config, limits: FeeLimits, others: Sequence[Wallet], path: Path) -> Config:
    """The configuration with the coin that fees are paid from, and the player's maxima.

    `others` are the other coins of the key in the file `path`. The player is told which fees
    cannot be paid.
    """
    contributions, side = config.agreement.contributions, config.side
    most = most_for_all(limits, sum(contributions))
    rest = rest_of(config.wallet, side, contributions[side])
    payer = wallet_for_fees(config.wallet, rest, others, most)
    paying = replace(
        config, fees=Fees(payer or config.wallet, limits.per_spend, limits.per_channel)
    )
    if Peer(paying).pays_fees:
        if payer is None:
            complain(
                f"{path}: the channel takes the whole coin, and this key has no other: no fees can"
                " be paid"
            )
        elif payer == rest != config.wallet:
            complain(
                f"{path}: no other coin of this key has {counted(most, 'mojo')} to pay a fee for"
                " the funding; later fees are paid from its change"
            )
    return config if payer is None else paying


def wallet_for_fees(
    wallet: Wallet, rest: Wallet | None, others: Sequence[Wallet], most: int
) -> Wallet | None:
    """The coin that fees are paid from: the largest of the other ones if it has `most` mojos.

    Otherwise it is what is left of the coin that funds the channel, if that is more: anybody can
    send a small coin to the wallet's address. `rest` is the funding coin itself if it is not spent.
    """
    other = max(others, key=by_amount, default=None)
    if rest is None or other is None or rest == wallet:
        return rest or other
    enough = other.coin.amount >= min(most, rest.coin.amount)
    return other if enough else rest


def by_amount(wallet: Wallet) -> tuple[int, bytes]:
    """The order of coins by their amounts."""
    return wallet.coin.amount, wallet.coin.id


# --- a channel that goes on --------------------------------------------------------------------


def changed_limits(peer: Peer, asked: FeeLimits, directory: Path) -> FeeLimits | None:
    """The maxima that a peer has from now on, if they change; `wanted` are the player's options.

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
