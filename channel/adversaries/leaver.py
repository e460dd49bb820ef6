"""It goes on chain without a reason, as anybody may."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.errors import UsageError
from channel.events import Block, Effect, GoOnChain


@register
class Leaver(Adversary):
    """At its step it goes on chain, and does all that it is owed there."""

    name = "leaver"
    about = "goes on chain in the middle of everything"
    honest_claim = True

    def block(self, block: Block) -> list[Effect]:
        """Leave with the first block from its step on."""
        if self.done or not self.due:
            return []
        try:
            effects = self.handle(GoOnChain("it wants to"))
        except UsageError:
            return []
        self.done = True
        return effects
