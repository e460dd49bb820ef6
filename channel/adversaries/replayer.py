"""Earlier messages again, in place of what is due and beside it."""

from __future__ import annotations

from channel.adversaries.base import Adversary, Plan, register
from channel.peer.machine import Peer
from channel.protocol.messages import Message


@register
class Replayer(Adversary):
    """What was right once, said at another time."""

    name = "replayer"
    about = "repeats an earlier message in place of what is due"

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._old: list[bytes] = []

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """One of its earlier messages."""
        self._old.append(blob)
        if self.done or len(self._old) < 2:
            return [blob]
        self.done = True
        return [self.plan.chance.pick(self._old[:-1])]
