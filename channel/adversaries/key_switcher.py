"""A channel key that is chosen once the receiver's is known."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import Adversary, register
from channel.crypto.hkdf import derive
from channel.crypto.keys import SecretKeys
from channel.protocol.messages import Launch, Message, encode


@register
class KeySwitcher(Adversary):
    """With the other key in hand it could pick the sum of both, and a hidden puzzle for it."""

    name = "key-switcher"
    about = "shows another channel key than the one that it sent the hash of"
    default_step = 0

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Another key, with the proof that it has it."""
        if not isinstance(message, Launch) or self.done:
            return [blob]
        self.done = True
        key = SecretKeys.derive(derive(self.peer.config.secret, "switched"))
        switched = msgspec.structs.replace(
            message,
            channel_key=bytes(key.channel.get_g1()),
            channel_proof=key.channel_proof(),
        )
        return [encode(switched)]
