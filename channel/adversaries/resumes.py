"""Adversaries that make new connections, and say something else than their last numbers."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, F, by_method, variant
from channelsim.channel.peer.interface import Connected, Effect, Event
from channelsim.channel.protocol.messages import Message, Resume, encode


class Reconnecting(Adversary):
    """Makes a new connection at its step, and then each time that one has been made."""

    most = 1
    """The number of connections that it makes."""
    _connections = 0

    def reconnects(self) -> bool:
        """True at its step, once the channel's states are signed."""
        return self.due and self.is_open and self._connections < self.most

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, and count connections of the open channel."""
        self._connections += isinstance(event, Connected) and self.is_open
        return super().handle(event)

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """Say something else in place of last numbers."""
        if not isinstance(message, Resume):
            return [blob]
        self.done = True
        return [*map(encode, self.numbers(message))]

    def numbers(self, message: Resume) -> list[Resume]:
        """The messages to send instead of these last numbers."""
        return [message]


def _says(name: str, about: str) -> Callable[[F], F]:
    """Register an adversary by the numbers that it sends instead of its last numbers."""
    return by_method(Reconnecting, "numbers", name, about)


variant(Reconnecting, "cuts-connections", "makes a new connection again and again", most=12)


@_says("mute-on-connection", "makes a new connection, and never sends its last numbers")
def _mute(resumer: Reconnecting, message: Resume) -> list[Resume]:
    return []


@_says("repeats-numbers", "makes a new connection, and sends its last numbers many times")
def _repeats(resumer: Reconnecting, message: Resume) -> list[Resume]:
    repeat = replace(message, decks=())
    return [message, repeat, replace(message, sent=message.received + 1), repeat]


@_says("plays-old-copy", "makes a new connection, and says that it knows an older state only")
def _plays_old_copy(resumer: Reconnecting, message: Resume) -> list[Resume]:
    older = resumer.completable()[:-1]
    if not older:
        return [message]
    state, halves = older[-1].state, older[-1].halves
    conditions = resumer.channel.on_chain(state).unroll_message
    return [Resume(state.number, state.number - 1, conditions, *halves, (), 0)]
