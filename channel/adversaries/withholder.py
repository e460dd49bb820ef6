"""It completes the shutdown and keeps the completion for itself."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.peer.interface import Close, Effect, Event
from channel.protocol.messages import Message, ShutdownDone


@register
class Withholder(Adversary):
    """The other side has given its half away, and hears nothing."""

    name = "withholder"
    about = "completes a shutdown and does not say so"

    def handle(self, event: Event) -> list[Effect]:
        """All but asking for a shutdown itself: the other side is to do that."""
        return [] if isinstance(event, Close) else super().handle(event)

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """All but the completion."""
        if not isinstance(message, ShutdownDone):
            return [blob]
        self.done = True
        return []
