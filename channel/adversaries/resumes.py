"""Adversaries that make new connections, and say something else than their last numbers."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.peer.interface import Connected, Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import Message, Resume, encode


class Reconnecting(Adversary):
    """Makes a new connection at its step, and then each time that one has been made."""

    most = 1
    """The number of connections that it makes."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._connections = 0

    def reconnects(self) -> bool:
        """True at its step, once the channel's states are signed."""
        return self.due and self.is_open and self._connections < self.most

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, and count connections."""
        self._connections += isinstance(event, Connected)
        return super().handle(event)

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """Say something else in place of last numbers."""
        if not isinstance(message, Resume):
            return [blob]
        self.done = True
        return [one if isinstance(one, bytes) else encode(one) for one in self.numbers(message)]

    def numbers(self, message: Resume) -> list[Message | bytes]:
        """The messages to send instead of these last numbers."""
        return [message]


@adversary("cuts-connections", "makes a new connection again and again")
class _Cuts(Reconnecting):
    most = 12


@adversary("mute-on-connection", "makes a new connection, and never sends its last numbers")
class _Mute(Reconnecting):
    def numbers(self, message: Resume) -> list[Message | bytes]:
        return []


@adversary("repeats-numbers", "makes a new connection, and sends its last numbers many times")
class _Repeats(Reconnecting):
    def numbers(self, message: Resume) -> list[Message | bytes]:
        again = replace(message, decks=())
        return [message, again, replace(message, sent=message.received + 1), again]


@adversary("plays-old-copy", "makes a new connection, and says that it knows an older state only")
class _PlaysOldCopy(Reconnecting):
    def numbers(self, message: Resume) -> list[Message | bytes]:
        channel, older = self.channel, self.completable()[:-1]
        if not older:
            return [message]
        state, halves = older[-1].state, older[-1].halves
        conditions = channel.on_chain(state).unroll_message
        return [Resume(state.number, state.number - 1, conditions, *halves, (), 0)]
