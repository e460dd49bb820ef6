"""It has a newer state than the one that is published, and keeps it back to the last moment."""

from __future__ import annotations

from channel.adversaries.base import Adversary, Plan, register
from channel.peer.interface import Effect, Push
from channel.peer.machine import Peer
from channel.protocol.messages import Message


class LatePreempter(Adversary):
    """It never answers from its step on: what the other side sent last, only it can complete."""

    late = 0

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._held: Push | None = None

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing, so that the other side publishes the state before."""
        return []

    def push(self, push: Push) -> list[Effect]:
        """Keep the preemption; all else goes at once, but for the publication."""
        if push.name == "preempt":
            self._held = push
            return []
        return [] if push.name == "unroll" else [push]

    def last(self) -> list[Effect]:
        """Preempt once the unroll coin is so old, with the other side's spends pending."""
        if self._held is None:
            return []
        coin = self.plan.chain.coin(self._held.bundle.spends[0].coin.id)
        if coin is None or coin.spent is not None:
            return []
        age = self.plan.chain.peak() - coin.born
        if age < self._channel().unroll_timeout + self.late:
            return []
        self.done = True
        return [self._held]


@register
class LastBlock(LatePreempter):
    """The last block in which nobody else can be before it."""

    name = "late-preempter-1"
    about = "preempts with what was sent to it last, in the last block before the timeout"
    late = -1


@register
class SameBlock(LatePreempter):
    """The timeout form is due in the same block: whichever comes first."""

    name = "late-preempter"
    about = "preempts with what was sent to it last, in the block in which the timeout is due"
