"""One bad action among good ones."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Batch, Cancel, Message, Settle


@register
class BadAction(Adversary):
    """A batch that is right but for one action."""

    name = "bad-action"
    about = "puts one impossible action among good ones"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with a settlement, or a cancellation, of what does not exist."""
        before = self.before()
        if self.done or not isinstance(message, Batch) or before is None:
            return [blob]
        self.done = True
        if self.plan.chance.below(2):
            return [self.batch(before, (Settle(1 << 40), *message.actions))]
        settles = [action for action in message.actions if isinstance(action, Settle)]
        others = [action for action in message.actions if not isinstance(action, Settle)]
        return [self.batch(before, (*settles, Cancel(1 << 40, ""), *others))]
