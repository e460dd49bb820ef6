"""The halves of the batch before."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Batch, Message, encode


@register
class ReusedSignatures(Adversary):
    """A batch under signatures that were right for another state."""

    name = "reused-signatures"
    about = "signs a batch with the halves of another state"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with one half, or both, of the state before."""
        before = self.before()
        if self.done or not isinstance(message, Batch) or before is None:
            return [blob]
        self.done = True
        halves = self.halves(before).halves
        which = self.plan.chance.below(3)
        channel_half = message.channel_half if which == 0 else halves[0]
        unroll_half = message.unroll_half if which == 1 else halves[1]
        changed = msgspec.structs.replace(
            message, channel_half=channel_half, unroll_half=unroll_half
        )
        return [encode(changed)]
