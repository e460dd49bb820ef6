"""Empty batches for ever in place of a move."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Batch, Message, Move, Settle


@register
class Staller(Adversary):
    """It keeps the potato going round, and never moves."""

    name = "staller"
    about = "returns the potato without the move that it owes"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """An empty batch in place of one that plays."""
        before = self.before()
        if not isinstance(message, Batch) or before is None or self.done:
            return [blob]
        if not any(isinstance(action, Move | Settle) for action in message.actions):
            return [blob]
        self.done = True
        return [self.batch(before, ())]
