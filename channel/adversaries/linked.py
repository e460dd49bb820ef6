"""The actor of an adversary that is linked to the other side, by itself on a node."""

from __future__ import annotations

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, Event


class LinkedAdversary:
    """The actor of an adversary, which acts last after each block by itself."""

    def __init__(self, adversary: Adversary) -> None:
        self.adversary = adversary

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self.adversary.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        """Let the adversary react."""
        effects = self.adversary.handle(event)
        return [*effects, *self.adversary.finish_block()] if isinstance(event, Block) else effects
