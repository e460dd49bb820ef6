"""Adversaries that keep messages and spends to themselves: some of them, or all."""

from __future__ import annotations

from typing import Any, ClassVar

from channelsim.channel.adversaries.base import Adversary, adversary, variant
from channelsim.channel.errors import Violation
from channelsim.channel.peer.interface import Close, Effect, Event, Push, Received
from channelsim.channel.protocol.messages import (
    Batch,
    Funded,
    Funding,
    Message,
    Settle,
    ShutdownDone,
    decode,
)


class Withholding(Adversary):
    """Sends no messages of these kinds, and pushes no spends of these names."""

    messages: ClassVar[type | tuple[type, ...]] = ()
    spends: ClassVar[tuple[str, ...]] = ()

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The message, or nothing."""
        if not isinstance(message, self.messages):
            return [blob]
        self.done = True
        return []

    def push(self, push: Push) -> list[Effect]:
        """The spend, or nothing."""
        if push.name not in self.spends:
            return [push]
        self.done = True
        return []


_WITHHELD: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "no-funding",
        "never sends its part of the funding",
        {"messages": (Funding, Funded), "spends": ("funding",), "default_step": 0},
    ),
    (
        "secret-funder",
        "publishes the funding without sending the completed bundle",
        {"messages": Funded, "default_step": 0},
    ),
    ("silent", "sends no more messages, and defends its money on chain", {"messages": object}),
    (
        "leaves-closing",
        "agrees to a shutdown, and leaves it to the other side to publish it",
        {"spends": ("shutdown",), "at_once": False},
    ),
)
for _name, _about, _attributes in _WITHHELD:
    variant(Withholding, _name, _about, **_attributes)


@adversary("dead", "sends no more messages, and pushes no more spends")
class _Dead(Withholding):
    messages = object

    def push(self, push: Push) -> list[Effect]:
        return []


@adversary("withholder", "completes a shutdown without sending the completion")
class _Withholder(Withholding):
    messages = ShutdownDone

    def handle(self, event: Event) -> list[Effect]:
        # The other side is to ask for the shutdown.
        return [] if isinstance(event, Close) else super().handle(event)


@adversary("denies-settlement", "sends no more messages once the other side settles a game")
class _DeniesSettlement(Adversary):
    """By messages the game is over; on chain it can be played on if the other side forgets that."""

    _denies = False

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
