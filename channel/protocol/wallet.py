"""The part of a player's wallet that a channel needs: one coin to pay with, and its change.

Pure functions of keys and coins; the caller finds the coins on chain.
"""

from __future__ import annotations

from dataclasses import dataclass

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import (
    ASSERT_BEFORE_HEIGHT_ABSOLUTE,
    ASSERT_COIN_ANNOUNCEMENT,
    Bundle,
    Coin,
    Spend,
    condition,
    launcher_announcement,
    launcher_puzzle,
    launcher_solution,
    signed_spend,
    standard_puzzle_hash,
)
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.state import Channel
from channelsim.clsp.values import Value, serialize, to_list
from channelsim.games.referee import CREATE_COIN


def wallet_key(secret: bytes, name: str) -> PrivateKey:
    """Derive the synthetic key of one of a player's own addresses."""
    from chia_wallet_sdk import SecretKey

    seed = wallet_seed(secret, name)
    return PrivateKey.from_bytes(SecretKey.from_seed(seed).derive_synthetic().to_bytes())


def wallet_seed(secret: bytes, name: str) -> bytes:
    """Derive the seed of the secret key that the synthetic key of an address comes from."""
    return derive(secret, "wallet", name)


def address_of(key: PrivateKey) -> bytes:
    """The standard puzzle hash of a synthetic key."""
    return standard_puzzle_hash(bytes(bls.public_of(key)))


@dataclass(frozen=True, slots=True)
class Wallet:
    """One wallet coin with its synthetic key; change goes back to the coin's address."""

    key: PrivateKey
    coin: Coin

    def change(self, contribution: int) -> Coin | None:
        """The coin that comes back when this one pays `contribution` mojos, if any is left."""
        left = self.coin.amount - contribution
        return Coin(self.coin.id, self.coin.puzzle_hash, left) if left > 0 else None

    def fund(self, channel: Channel, contribution: int, deadline: int, launch: bool) -> Bundle:
        """Build and sign the spend that pays `contribution` mojos into the channel.

        With `launch` (the initiator) it also creates and spends the launcher. Asserting the
        launcher's announcement and the deadline makes the funding atomic.
        """
        if self.coin.amount < contribution:
            raise InvariantError("a wallet coin smaller than the contribution")
        conditions: list[Value] = []
        if launch:
            conditions.append(condition(CREATE_COIN, launcher_puzzle().hash, 0))
        if change := self.change(contribution):
            conditions.append(condition(CREATE_COIN, change.puzzle_hash, change.amount))
        conditions.append(condition(ASSERT_COIN_ANNOUNCEMENT, launch_announcement(channel)))
        conditions.append(condition(ASSERT_BEFORE_HEIGHT_ABSOLUTE, deadline))
        own = signed_spend(self.key, self.coin, to_list(conditions), channel.agg_sig_data)
        launcher = (launcher_spend(channel),) if launch else ()
        return Bundle((*own.spends, *launcher), own.signature)


def launcher_spend(channel: Channel) -> Spend:
    """The launcher's spend, which creates the channel coin with its full amount."""
    solution = serialize(_launcher_solution(channel))
    return Spend(channel.launcher, launcher_puzzle().serialized, solution)


def launch_announcement(channel: Channel) -> bytes:
    """The id of the announcement that the launcher's spend makes."""
    return launcher_announcement(channel.launcher.id, _launcher_solution(channel))


def _launcher_solution(channel: Channel) -> Value:
    return launcher_solution(channel.coin.puzzle_hash, channel.coin.amount)
