"""A second batch without the potato."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Batch, Message


@register
class TwoBatches(Adversary):
    """It gives the potato away and goes on as if it had it."""

    name = "two-batches"
    about = "sends a second batch without holding the potato"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch, and an empty one on top."""
        if self.done or not isinstance(message, Batch) or self.peer._play is None:
            return [blob]
        self.done = True
        return [blob, self.batch(self.peer.play.state, ())]
