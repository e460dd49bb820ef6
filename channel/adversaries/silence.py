"""Adversaries that stop talking."""

from __future__ import annotations

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.errors import Violation
from channelsim.channel.peer.interface import Effect, Event, Push, Received
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import Batch, Message, Settle, decode


@adversary("silent", "sends no more messages, and defends its money on chain")
class _Silent(Adversary):
    def send(self, message: Message, blob: bytes) -> list[bytes]:
        self.done = True
        return []


@adversary("dead", "sends no more messages, and pushes no more spends")
class _Dead(Adversary):
    def send(self, message: Message, blob: bytes) -> list[bytes]:
        self.done = True
        return []

    def push(self, push: Push) -> list[Effect]:
        return []


@adversary("denies-settlement", "sends no more messages once the other side settles a game")
class _DeniesSettlement(Adversary):
    """By messages the game is over; on chain it can be played on if the other side forgets that."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._denies = False

    def handle(self, event: Event) -> list[Effect]:
        if isinstance(event, Received) and self._settles(event.message):
            self.done = self._denies = True
        if self._denies and isinstance(event, Received):
            return []
        return super().handle(event)

    def send(self, message: Message, blob: bytes) -> list[bytes]:
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
