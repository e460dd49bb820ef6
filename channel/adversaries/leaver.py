"""It goes on chain without a reason, as anybody may."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.peer.interface import Effect, GoOnChain


@register
class Leaver(Adversary):
    """At its step it goes on chain, and does all that it is owed there."""

    name = "leaver"
    about = "goes on chain in the middle of everything, and plays on there by the rules"

    def act(self) -> list[Effect]:
        """Leave, as soon as that can be."""
        if self.done:
            return []
        effects = self.command(GoOnChain("it wants to"))
        self.done = effects is not None
        return effects or []
