"""It agrees to close the channel, and publishes nothing."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.peer.interface import Effect, Push


@register
class LeavesClosing(Adversary):
    """Whoever has the completed shutdown publishes it: here only the other side does."""

    name = "leaves-closing"
    about = "agrees to close, and leaves it to the other side to publish that"
    at_once = False

    def push(self, push: Push) -> list[Effect]:
        """All but the shutdown."""
        if push.name != "shutdown":
            return [push]
        self.done = True
        return []
