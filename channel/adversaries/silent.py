"""It stops talking; on chain it does all that it is owed."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Message


@register
class Silent(Adversary):
    """From its step on it says nothing any more."""

    name = "silent"
    about = "says nothing any more, and looks after its money on chain"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing."""
        self.done = True
        return []
