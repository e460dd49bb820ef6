"""Bytes that are no message."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Message


@register
class Garbler(Adversary):
    """It says something, but nothing that can be read."""

    name = "garbler"
    about = "sends bytes that are no message"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Garbage in place of a message, once."""
        if self.done:
            return [blob]
        self.done = True
        changed = bytearray(blob)
        changed[self.plan.chance.below(len(changed))] ^= 1 + self.plan.chance.below(255)
        return [bytes(changed)]
