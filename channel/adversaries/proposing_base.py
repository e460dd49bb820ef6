"""What adversaries of proposals have in common: they propose, if nobody else wants them to."""

from __future__ import annotations

from channel.adversaries.base import Adversary, Plan
from channel.peer.interface import Effect, ProposeGames
from channel.peer.machine import Peer


class Proposing(Adversary):
    """Proposes one more game at its step, so that there is a proposal to do wrong."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._proposed = False

    def act(self) -> list[Effect]:
        """The same game as the last, once."""
        wish = self.wish()
        if self.done or self._proposed or wish is None:
            return []
        effects = self.command(ProposeGames((wish,)))
        self._proposed = effects is not None
        return effects or []
