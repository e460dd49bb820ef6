"""A player's three keys of one channel, and what it proves about them.

Source: the state channel, "Keys and signatures". Keys are never used for another channel,
nor again after a failed opening.
"""

from __future__ import annotations

from dataclasses import dataclass

from chia_rs import AugSchemeMPL, G1Element, PrivateKey

from channel.crypto import bls
from channel.crypto.hkdf import derive
from channel.errors import Violation
from games.referee import payout_message


@dataclass(frozen=True, slots=True)
class SecretKeys:
    """Channel key, unroll key and referee key of one player."""

    channel: PrivateKey
    unroll: PrivateKey
    referee: PrivateKey

    @classmethod
    def derive(cls, secret: bytes) -> SecretKeys:
        """The keys of the channel that this secret (32 bytes or more) belongs to."""
        return cls(*(_key(secret, name) for name in ("channel", "unroll", "referee")))

    def public(self) -> PublicKeys:
        """The public keys."""
        return PublicKeys(self.channel.get_g1(), self.unroll.get_g1(), self.referee.get_g1())

    def channel_proof(self) -> bytes:
        """Proof of possession of the channel key: its signature of its own 48 bytes."""
        return bls.sign(self.channel, bytes(self.channel.get_g1()))

    def unroll_proof(self) -> bytes:
        """Proof of possession of the unroll key."""
        return bls.sign(self.unroll, bytes(self.unroll.get_g1()))

    def payout_signature(self, reward_address: bytes) -> bytes:
        """What authorises every game payout to this address."""
        return bls.sign(self.referee, payout_message(reward_address))


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """The public halves of a player's three keys."""

    channel: G1Element
    unroll: G1Element
    referee: G1Element

    @classmethod
    def read(cls, channel: bytes, unroll: bytes, referee: bytes) -> PublicKeys:
        """The keys with these bytes (48 each). Raises `Violation` for what is no key."""
        return cls(
            cls.read_key("channel", channel),
            cls.read_key("unroll", unroll),
            cls.read_key("referee", referee),
        )

    @staticmethod
    def read_key(name: str, blob: bytes) -> G1Element:
        """The key with these 48 bytes. Raises `Violation`, naming it, for what is no key."""
        key = bls.public_key(blob)
        if key is None:
            raise Violation("CH-OPEN-1", f"the {name} key is no valid public key")
        return key

    def all(self) -> tuple[bytes, bytes, bytes]:
        """The 48 bytes of each."""
        return bytes(self.channel), bytes(self.unroll), bytes(self.referee)


def _key(secret: bytes, name: str) -> PrivateKey:
    return AugSchemeMPL.key_gen(derive(secret, "key", name))
