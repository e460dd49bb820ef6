"""It completes the funding, publishes it, and says nothing."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Funded, Message


@register
class SecretFunder(Adversary):
    """The initiator never hears that its channel was funded; the chain says so."""

    name = "secret-funder"
    about = "publishes the funding behind the other side's back"
    default_step = 0

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """All but the completed bundle."""
        if not isinstance(message, Funded):
            return [blob]
        self.done = True
        return []
