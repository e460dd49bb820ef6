"""Requests without end."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Message, Request, encode

EACH = 20
"""Requests beside each message."""

MOST = 200
"""Requests in all: a run has to end."""


@register
class Flooder(Adversary):
    """It asks for the potato whether it has it or not, and again, and again."""

    name = "flooder"
    about = "sends a flood of requests beside every message"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The message among many requests."""
        if self.peer._play is None or self.said - self.plan.step > MOST // EACH:
            return [blob]
        self.done = True
        requests = [encode(Request())] * EACH
        before = self.plan.chance.below(EACH)
        return [*requests[:before], blob, *requests[before:]]
