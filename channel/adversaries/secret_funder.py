"""It completes the funding, publishes it, and says nothing."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.opening_base import InOpening
from channel.messages import Funded, Message


@register
class SecretFunder(InOpening):
    """The initiator never hears that its channel was funded; the chain says so."""

    name = "secret-funder"
    about = "publishes the funding behind the other side's back"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """All but the completed bundle."""
        if not isinstance(message, Funded):
            return [blob]
        self.done = True
        return []
