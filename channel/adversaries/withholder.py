"""It completes the shutdown and keeps the completion for itself."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.messages import Message, ShutdownDone


@register
class Withholder(Adversary):
    """The other side has given its half away, and hears nothing."""

    name = "withholder"
    about = "completes a shutdown and does not say so"
    honest_claim = True

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """All but the completion."""
        if not isinstance(message, ShutdownDone):
            return [blob]
        self.done = True
        return []
