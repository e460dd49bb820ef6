"""A player's three keys in one channel, and its proofs of possession.

Source: spec/channel.md, "Keys and signatures". Keys are never reused for another
channel, nor after a failed opening.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from chia_rs import AugSchemeMPL, G1Element, PrivateKey

from channelsim.channel.crypto import bls
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import Violation
from channelsim.games.referee import payout_message


@dataclass(frozen=True)
class SecretKeys:
    """Channel key, unroll key and referee key of one player."""

    channel: PrivateKey
    unroll: PrivateKey
    referee: PrivateKey

    @classmethod
    def derive(cls, secret: bytes) -> SecretKeys:
        """Derive the keys of one channel from its secret (32 bytes or more)."""
        return cls(*(_key(secret, name) for name in ("channel", "unroll", "referee")))

    def public(self) -> PublicKeys:
        """The public keys."""
        return self._public

    @cached_property
    def _public(self) -> PublicKeys:
        return PublicKeys(*map(bls.public_of, (self.channel, self.unroll, self.referee)))

    def channel_proof(self) -> bytes:
        """Proof of possession of the channel key: its signature of its own 48 bytes."""
        return bls.sign(self.channel, bytes(self._public.channel))

    def unroll_proof(self) -> bytes:
        """Proof of possession of the unroll key."""
        return bls.sign(self.unroll, bytes(self._public.unroll))

    def payout_signature(self, reward_address: bytes) -> bytes:
        """Authorise every game payout to this address."""
        return bls.sign(self.referee, payout_message(reward_address))


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """The public halves of a player's three keys."""

    channel: G1Element
    unroll: G1Element
    referee: G1Element

    @classmethod
    def read(cls, channel: bytes, unroll: bytes, referee: bytes) -> PublicKeys:
        """Decode three keys of 48 bytes each. Raises `Violation` for an invalid one."""
        return cls(
            cls.read_key("channel", channel),
            cls.read_key("unroll", unroll),
            cls.read_key("referee", referee),
        )

    @staticmethod
    def read_key(name: str, blob: bytes) -> G1Element:
        """Decode a key of 48 bytes. Raises `Violation` with its name if it is invalid."""
        key = bls.public_key(blob)
        if key is None:
            raise Violation("CH-OPEN-1", f"the {name} key is not a valid public key")
        return key

    def all(self) -> tuple[bytes, bytes, bytes]:
        """The 48 bytes of each."""
        return bytes(self.channel), bytes(self.unroll), bytes(self.referee)


def _key(secret: bytes, name: str) -> PrivateKey:
    return AugSchemeMPL.key_gen(derive(secret, "key", name))
