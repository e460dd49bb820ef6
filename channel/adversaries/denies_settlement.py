"""It never answers a settlement: by messages the game is over, on chain it is still there."""

from __future__ import annotations

from channel.adversaries.base import Adversary, Plan, register
from channel.errors import Violation
from channel.peer.interface import Effect, Event, Received
from channel.peer.machine import Peer
from channel.protocol.messages import Batch, Message, Settle, decode


@register
class DeniesSettlement(Adversary):
    """A fold that it did not answer may be played on against, if the other side forgot it."""

    name = "denies-settlement"
    about = "says nothing any more once the other side has folded or settled a game"

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._denies = False

    def handle(self, event: Event) -> list[Effect]:
        """All but what it does not want to have heard."""
        if isinstance(event, Received) and self._settles(event.message):
            self.done = self._denies = True
        if self._denies and isinstance(event, Received):
            return []
        return super().handle(event)

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing, from then on."""
        return [] if self._denies else [blob]

    def _settles(self, blob: bytes) -> bool:
        try:
            message = decode(blob)
        except Violation:
            return False
        return (
            self.due
            and isinstance(message, Batch)
            and any(isinstance(action, Settle) for action in message.actions)
        )
