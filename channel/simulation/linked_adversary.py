"""An adversary as one side of a channel between processes, to try another implementation with.

It keeps nothing on disk: its channel ends with its process.
"""

from __future__ import annotations

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, Event, Received, Send


class LinkedAdversary:
    """The actor of an adversary; it repeats what it has said since it was last answered."""

    def __init__(self, adversary: Adversary) -> None:
        self.adversary = adversary
        self._unanswered: list[Effect] = []

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self._noted(self.adversary.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Let the adversary react; after a block, it acts last too."""
        if isinstance(event, Received):
            self._unanswered.clear()
        effects = self.adversary.handle(event)
        if isinstance(event, Block):
            effects += self.adversary.last()
        return self._noted(effects)

    def reconnected(self) -> list[Effect]:
        """Repeat what may be lost."""
        return list(self._unanswered)

    def _noted(self, effects: list[Effect]) -> list[Effect]:
        self._unanswered += [one for one in effects if isinstance(one, Send)]
        return effects
