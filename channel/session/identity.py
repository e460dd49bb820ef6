"""A player from one secret: its wallet, its addresses, and who its peer is in the first channel."""

from __future__ import annotations

from collections.abc import Callable

from channel.chain.interface import FarmableChain
from channel.crypto.hkdf import derive
from channel.peer.agreement import Agreement
from channel.peer.machine import Config
from channel.protocol.state import Side
from channel.protocol.wallet import Wallet, address_of, wallet_key
from channel.session.setup import NAMES


def wallet_of(secret: bytes, chain: FarmableChain, amount: int) -> Wallet:
    """The player's wallet with a coin of at least this amount. Raises `UsageError` for too much."""
    key = wallet_key(secret, "funding")
    return Wallet(key, chain.give(address_of(key), amount))


def config_of(
    index: int, secret: bytes, wallet: Wallet, agreement: Agreement, agg_sig_data: bytes
) -> Config:
    """The peer of the player at this place in `NAMES`; its games have entropy of their own."""
    channel_secret = derive(secret, "channel", 0)
    return Config(
        name=NAMES[index],
        peer=NAMES[1 - index],
        side=Side(index),
        secret=channel_secret,
        reward_address=address_of(wallet_key(secret, "reward")),
        wallet=wallet,
        agreement=agreement,
        agg_sig_data=agg_sig_data,
        entropy=entropy_of(channel_secret),
    )


def entropy_of(secret: bytes) -> Callable[[int], bytes]:
    """What each game of a channel is played with, by its id."""
    return lambda game_id: derive(secret, "game", game_id, length=64)
