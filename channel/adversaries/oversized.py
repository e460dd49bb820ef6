"""Messages and batches that are larger than allowed."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import MAX_MESSAGE, Advisory, Batch, Cancel, Message, encode


@register
class Oversized(Adversary):
    """More bytes, more actions, longer words, larger numbers than a message may have."""

    name = "oversized"
    about = "sends messages and batches that are larger than allowed"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """One of these in place of a batch."""
        if self.done or not isinstance(message, Batch):
            return [blob]
        self.done = True
        match self.plan.chance.below(5):
            case 0:
                return [blob + bytes(MAX_MESSAGE)]
            case 1:
                many = tuple(Cancel(number, "") for number in range(1001))
                return [encode(msgspec.structs.replace(message, actions=many))]
            case 2:
                wordy = (Cancel(0, "x" * 100_000), *message.actions)
                return [encode(msgspec.structs.replace(message, actions=wordy))]
            case 3:
                return [encode(Advisory(0, bytes(100_000))), blob]
            case _:
                return [encode(msgspec.structs.replace(message, number=1 << 63))]
