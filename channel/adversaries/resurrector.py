"""It closes the channel, and takes the end back."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push


@register
class Resurrector(Adversary):
    """The shutdown is in the chain; a reorganisation takes it out, and an old state is quicker."""

    name = "resurrector"
    about = "replaces the blocks with the shutdown in them, and publishes an old state"
    at_once = False

    def push(self, push: Push) -> list[Effect]:
        """Not the shutdown again, once it has been taken back."""
        return [] if self.done and push.name == "shutdown" else [push]

    def block(self, block: Block) -> list[Effect]:
        """The old state, until something is in."""
        return self._old() if self.done else []

    def last(self) -> list[Effect]:
        """When the shutdown is in and can still be reached; now or later."""
        coin = self.plan.chain.coin(self.channel.coin.id) if self.channel else None
        if self.done or not self.due or coin is None or coin.spent is None:
            return []
        if self.peer._dispute is not None:
            return []
        back = self.plan.chain.peak() - coin.spent + 1
        late = back == self.peer.config.agreement.confirmations
        if (late or self.plan.chance.below(3) == 0) and self.plan.rewind(back):
            self.done = True
            return self._old()
        return []

    def _old(self) -> list[Effect]:
        states = self.completable()
        return [Push("stale", self.publishes(states[0]))] if states else []
