"""The base of the adversaries that break one rule; each is called `breaks-` and the rule's id.

The message is otherwise valid, and signed so that only a check of this rule refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeAlias, TypeVar

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, as_declared, variant
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.interface import Effect, Event, Received, Send
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol import transitions
from channelsim.channel.protocol.messages import (
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
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.state import Channel, ChannelState, Side

UNBREAKABLE = {
    "CH-ACCEPT-4": "a side accepts only what the other side offers, and an honest player never"
    " offers more than a few games",
}
"""Rules that no message to an honest peer can break here, and why."""

Variants: TypeAlias = list[list[Message | bytes]]
"""Alternatives to a message: each is a list of messages to send instead of it."""

M = TypeVar("M")
"""A kind of message."""

Breaks: TypeAlias = Callable[["RuleBreaker", M], Variants]
"""Makes the alternatives that break a rule; none where it cannot be broken."""

BreaksBatch: TypeAlias = Callable[["RuleBreaker", Batch, ChannelState], Variants]
"""The same for a batch that its peer has just made, and the state before it."""


class RuleBreaker(Adversary):
    """Breaks one rule with the first message, from its step on, that allows it."""

    rule: ClassVar[str] = ""
    part: Bundle | None = None
    """The initiator's part of the funding; None before it was received."""
    channel_before: Channel | None = None
    """The channel before the event at hand, with the decks that were erased since."""

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does; note the initiator's part of the funding, and decks."""
        self.channel_before = self.known_channel
        with suppress(Violation):
            if isinstance(event, Received) and isinstance(e := decode(event.message), Funding):
                self.part = e.part
        return super().handle(event)

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """One of the variants that break the rule; the message itself if there is none."""
        variants = [] if self.done else self.variants(message)
        return self.pick(variants) if variants else [blob]

    def pick(self, variants: Variants) -> list[bytes]:
        """Deviate: pick one variant at random and encode it."""
        self.done = True
        picked = self.plan.chance.pick(variants)
        return [part if isinstance(part, bytes) else encode(part) for part in picked]

    def variants(self, message: Message) -> Variants:
        """Alternatives to this message that break the rule."""
        return []

    # --- parts of variants ---

    def opening_channel(self) -> Channel:
        """The channel that is being opened."""
        channel = self.peer.state.opening.channel
        if channel is None:
            raise InvariantError("there is no channel yet")
        return channel

    def applied(
        self, before: ChannelState, actions: Sequence[BatchAction], side: Side | None = None
    ) -> ChannelState:
        """The state after a valid batch of these actions by a side (itself, if none is given)."""
        sender = self.side if side is None else side
        return transitions.apply(self.channel, before, sender, actions, as_declared)[0]

    def batch_after(
        self, before: ChannelState, actions: Sequence[BatchAction], side: Side | None = None
    ) -> Batch:
        """A batch of actions that are valid for a side (itself, if none is given)."""
        return self.signs(self.applied(before, actions, side), actions)

    def other_keys(self) -> SecretKeys:
        """Keys of its own that it has not sent to anyone."""
        return SecretKeys.derive(derive(self.peer.config.secret, "other"))


class Requester(RuleBreaker):
    """Requests the potato with every batch, to hold it while the other player still decides."""

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch, and a request that its peer takes for its own."""
        if self.done or not isinstance(message, Batch) or self.peer.phase is not Phase.PLAYING:
            return [blob]
        play = replace(self.peer.play, we_asked=True)
        self.peer.state = replace(self.peer.state, play=play)
        return [blob, encode(Request())]

    def act(self) -> list[Effect]:
        """Break the rule with the potato that came back unused."""
        if self.done or self.peer.phase is not Phase.PLAYING or not self.peer.play.potato:
            return []
        variants = self.variants(Request())
        return [*map(Send, self.pick(variants))] if variants else []


class SilentBreaker(RuleBreaker):
    """Sends no more messages, from the one on that is due by its rule."""

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """Nothing."""
        moves = isinstance(message, Batch) and any(
            isinstance(act, Move | Settle) for act in message.actions
        )
        if not self.done and moves != (self.rule == "CH-TIME-2"):
            return [blob]
        self.done = True
        return []


# --- the registry ------------------------------------------------------------------------------


def name_of(rule: str) -> str:
    """The name of the adversary that breaks this rule.

    >>> name_of("CH-SETTLE-2")
    'breaks-ch-settle-2'
    """
    return f"breaks-{rule.lower()}"


EARLY = ("CH-OPEN", "CH-MSG", "CH-SHUT", "CH-PROPOSE", "CH-ACCEPT", "CH-COINS")
"""Rules that can be broken at the first opportunity."""


def add(rule: str, kind: type[RuleBreaker], **attributes: object) -> None:
    """Register the adversary of a rule, with these methods and class variables.

    Raises `InvariantError` for an unknown rule.
    """
    if rule not in RULES:
        raise InvariantError(f"no rule is called {rule}")
    step = 0 if rule.startswith(EARLY) else Adversary.default_step
    about = f"breaks {rule}: {RULES[rule]}"
    variant(kind, name_of(rule), about, rule=rule, default_step=step, **attributes)


def breaks(
    rule: str, kind: type[RuleBreaker] = RuleBreaker
) -> Callable[[Breaks[Message]], Breaks[Message]]:
    """Register a function as the way to break a rule."""

    def register(variants: Breaks[Message]) -> Breaks[Message]:
        add(rule, kind, variants=variants)
        return variants

    return register


def breaks_kind(
    rule: str, kind: type[M], breaker: type[RuleBreaker] = RuleBreaker
) -> Callable[[Breaks[M]], Breaks[M]]:
    """Register a function as the way to break a rule with a message of one kind."""

    def register(variants: Breaks[M]) -> Breaks[M]:
        def of_message(breaker: RuleBreaker, message: Message) -> Variants:
            return variants(breaker, message) if isinstance(message, kind) else []

        add(rule, breaker, variants=of_message)
        return variants

    return register


def breaks_batch(rule: str) -> Callable[[BreaksBatch], BreaksBatch]:
    """Register a function as the way to break a rule with a batch of its peer."""

    def register(variants: BreaksBatch) -> BreaksBatch:
        def of_message(breaker: RuleBreaker, message: Message) -> Variants:
            batch_and_before = breaker.batch_and_before(message)
            return variants(breaker, *batch_and_before) if batch_and_before is not None else []

        add(rule, RuleBreaker, variants=of_message)
        return variants

    return register


def changed(message: Any, *changes: Mapping[str, object]) -> Variants:
    """The message with each of these changes, one at a time."""
    return [[replace(message, **change)] for change in changes]


add("CH-TIME-1", SilentBreaker)
add("CH-TIME-2", SilentBreaker)
