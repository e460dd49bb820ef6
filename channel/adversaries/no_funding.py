"""A funding that never comes."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.peer.interface import Effect, Push
from channel.protocol.messages import Funded, Funding, Message


@register
class NoFunding(Adversary):
    """It shakes hands and does not pay."""

    name = "no-funding"
    about = "never sends its part of the funding"
    default_step = 0

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """All but the funding."""
        if not isinstance(message, Funding | Funded):
            return [blob]
        self.done = True
        return []

    def push(self, push: Push) -> list[Effect]:
        """All but the funding."""
        return [] if push.name == "funding" else [push]
