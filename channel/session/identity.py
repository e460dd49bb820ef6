"""The identity of each peer: keys, addresses, wallet and chance, derived from the seed."""

from __future__ import annotations

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.crypto.hkdf import derive, game_entropy
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.machine import Config
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.channel.session.setup import NAMES
from channelsim.games.chance import Chance

_LABELS = ("alice", "bob")
"""Labels of the derivation, by side: other ones would deal other cards for every seed."""


def node_seed(seed: bytes) -> int:
    """Derive the seed of the embedded node."""
    return int.from_bytes(derive(seed, "node", length=4), "big")


def secret_of(seed: bytes, side: Side) -> bytes:
    """Derive the secret that all keys of this side come from."""
    return derive(seed, "player", _LABELS[side])


def policy_chance(seed: bytes, side: Side) -> Chance:
    """Derive the chance by which this side's policy decides."""
    return Chance(derive(seed, "policy", _LABELS[side]))


def fund_wallet(key_secret: bytes, purpose: str, chain: FarmableChain, amount: int) -> Wallet:
    """Give a new wallet a coin of at least this amount. Raises `UsageError` for too much."""
    key = wallet_key(key_secret, purpose)
    return Wallet(key, chain.give(address_of(key), amount))


def make_config(
    seed: bytes,
    side: Side,
    chain: FarmableChain,
    agreement: Agreement,
    max_fee: int | None = None,
    max_fees: int | None = None,
) -> Config:
    """Derive a peer's configuration from the seed, and fund its wallets.

    It pays fees with either of both maxima, as in `Fees`. Raises `UsageError` if its contribution
    is more than a wallet can hold.
    """
    secret = secret_of(seed, side)
    channel_secret = derive(secret, "channel", 0)
    wallet = fund_wallet(secret, "funding", chain, agreement.contributions[side])
    fees = None
    if most := max_fees or max_fee:
        fees = Fees(fund_wallet(secret, "fees", chain, most), max_fee, max_fees)
    return Config(
        name=NAMES[side],
        peer=NAMES[side.other],
        side=side,
        secret=channel_secret,
        reward_address=address_of(wallet_key(secret, "reward")),
        wallet=wallet,
        agreement=agreement,
        agg_sig_data=chain.agg_sig_data(),
        entropy=game_entropy(channel_secret),
        fees=fees,
    )
