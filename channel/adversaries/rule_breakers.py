"""An adversary for each rule of the channel, which breaks just this one: `breaks-` and its id.

What it says is otherwise right, and signed as whoever did not look at the rule would want it. How
it is done stands beside this file, by what is said; a rule without an adversary is in
`UNBREAKABLE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar, TypeAlias

import msgspec

from channel.adversaries.base import Adversary, Plan, as_declared, register
from channel.chain.coins import Bundle
from channel.crypto.hkdf import derive
from channel.crypto.keys import SecretKeys
from channel.errors import InvariantError, Violation
from channel.peer.interface import Effect, Event, Received, Send
from channel.peer.machine import Peer, Phase
from channel.protocol import transitions as engine
from channel.protocol.half_signed import sign_halves
from channel.protocol.messages import (
    Batch,
    BatchAction,
    Funding,
    Message,
    Move,
    Request,
    Settle,
    decode,
    encode,
)
from channel.protocol.rules import RULES
from channel.protocol.state import Channel, ChannelState, Side

UNBREAKABLE = {
    "CH-ACCEPT-4": "who accepts takes what the other side offers, and an honest player never"
    " offers more than a few games",
}
"""Rules that no message to an honest side of this harness can break, and why."""

Ways: TypeAlias = list[list[Message | bytes]]
"""Several things to say in place of a message: one of them is picked."""

Breaks: TypeAlias = Callable[["Breaker", Message], Ways]
"""Messages that break a rule in place of this one; none where it cannot be broken."""


class Breaker(Adversary):
    """Breaks one rule with the first message, from its step on, in which it can."""

    rule: ClassVar[str] = ""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self.part: Bundle | None = None

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, keeping the initiator's funding part for later."""
        with suppress(Violation):
            if isinstance(event, Received) and isinstance(e := decode(event.message), Funding):
                self.part = e.part
        return super().handle(event)

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """One of the ways to break it here, by chance; the message as it is if there is none."""
        ways = [] if self.done else self.ways(message)
        if not ways:
            return [blob]
        self.done = True
        return [
            one if isinstance(one, bytes) else encode(one) for one in self.plan.chance.pick(ways)
        ]

    def ways(self, message: Message) -> Ways:
        """Messages that break the rule in place of this one; none where it cannot be broken."""
        return []

    # --- what the ways are made of ---

    @property
    def side(self) -> Side:
        """Its own side."""
        return self.peer.config.side

    def opening_channel(self) -> Channel:
        """The channel that is being opened."""
        channel = self.peer._opening.channel
        if channel is None:
            raise InvariantError("there is no channel yet")
        return channel

    def told(self, message: Message) -> tuple[ChannelState, Batch] | None:
        """A batch, and the state before it; None for any other message."""
        before = self.before()
        return (before, message) if isinstance(message, Batch) and before is not None else None

    def signs(self, after: ChannelState, actions: Sequence[BatchAction]) -> Batch:
        """A batch of these actions, with right halves for this state."""
        halves = sign_halves(self._channel(), self.keys, after)
        return Batch(after.number, tuple(actions), *halves)

    def led(
        self, before: ChannelState, actions: Sequence[BatchAction], side: Side | None = None
    ) -> ChannelState:
        """The state after a lawful batch of these actions, by this side (itself)."""
        sender = self.side if side is None else side
        return engine.apply(self._channel(), before, sender, actions, as_declared)[0]

    def other_keys(self) -> SecretKeys:
        """Keys of its own that it has told nobody of."""
        return SecretKeys.derive(derive(self.peer.config.secret, "other"))


class Asker(Breaker):
    """Asks for the potato with every batch, to have it while the other side still thinks."""

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch, and a request that its peer takes for its own."""
        if self.done or not isinstance(message, Batch) or self.peer.phase is not Phase.PLAYING:
            return [blob]
        self.peer._play = replace(self.peer.play, requested=True)
        return [blob, encode(Request())]

    def act(self) -> list[Effect]:
        """Break the rule with the potato that came back unused."""
        if self.done or self.peer.phase is not Phase.PLAYING or not self.peer.play.potato:
            return []
        ways = self.ways(Request())
        if not ways:
            return []
        self.done = True
        picked = self.plan.chance.pick(ways)
        return [Send(one if isinstance(one, bytes) else encode(one)) for one in picked]


class Mute(Breaker):
    """Says nothing any more, from the message on with which it breaks its rule."""

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing."""
        owes = isinstance(message, Batch) and any(
            isinstance(act, Move | Settle) for act in message.actions
        )
        if not self.done and owes != (self.rule == "CH-TIME-2"):
            return [blob]
        self.done = True
        return []


# --- the registry ------------------------------------------------------------------------------


def name_of(rule: str) -> str:
    """The adversary that breaks this rule.

    >>> name_of("CH-SETTLE-2")
    'breaks-ch-settle-2'
    """
    return f"breaks-{rule.lower()}"


def add(rule: str, kind: type[Breaker], ways: Breaks | None = None) -> None:
    """Register the adversary of a rule, of this kind, with its ways to break it.

    Raises `InvariantError` for a rule that there is not.
    """
    if rule not in RULES:
        raise InvariantError(f"no rule is called {rule}")
    early = rule.startswith(("CH-OPEN", "CH-MSG", "CH-SHUT", "CH-PROPOSE", "CH-ACCEPT", "CH-COINS"))
    attributes: dict[str, object] = {
        "__doc__": f"Breaks {rule}.",
        "name": name_of(rule),
        "about": f"breaks {rule}: {RULES[rule]}",
        "rule": rule,
        **({"ways": ways} if ways is not None else {}),
        "default_step": 0 if early else Adversary.default_step,
    }
    register(type(name_of(rule), (kind,), attributes))


def breaks(rule: str, kind: type[Breaker] = Breaker) -> Callable[[Breaks], Breaks]:
    """Register a function as the way in which a rule is broken."""

    def put(how: Breaks) -> Breaks:
        add(rule, kind, how)
        return how

    return put


add("CH-TIME-1", Mute)
add("CH-TIME-2", Mute)


# --- what ways are made of ---------------------------------------------------------------------


def changed(message: Message, *changes: Mapping[str, object]) -> Ways:
    """The message with each of these changes, one at a time."""
    return [[msgspec.structs.replace(message, **change)] for change in changes]
