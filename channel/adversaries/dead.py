"""It dies: no word, no spend, no decision."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.peer.interface import Effect, Push
from channel.protocol.messages import Message


@register
class Dead(Adversary):
    """From its step on it does nothing at all."""

    name = "dead"
    about = "dies for good, and pushes nothing either"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing."""
        self.done = True
        return []

    def push(self, push: Push) -> list[Effect]:
        """Nothing."""
        return []
