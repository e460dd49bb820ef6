"""Early reveals that are wrong."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Advisory, Batch, Message, encode


@register
class FalseAdvisory(Adversary):
    """It shows ahead what it did not commit to; that changes nothing."""

    name = "false-advisory"
    about = "sends early reveals that are wrong, late, or of no game"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """A wrong one in place of a right one, and more of them beside a batch."""
        chance = self.plan.chance
        if isinstance(message, Advisory):
            self.done = True
            return [encode(Advisory(message.game_id, chance.bytes(len(message.data))))]
        if isinstance(message, Batch) and self.peer._play is not None:
            self.done = True
            wrong = [encode(Advisory(game_id, chance.bytes(32))) for game_id in (0, 1, 1 << 40)]
            return [wrong[0], blob, *wrong[1:]]
        return [blob]
