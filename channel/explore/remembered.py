"""Transitions of peers, worked out once: the same event in the same state gives the same result.

States of a world share the states of their sides: whatever one side does meanwhile, the other
side's state is the same object. So a transition is known by the identity of its state, and by its
event.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer, transition
from channelsim.channel.peer.peer_state import PeerState, Transition
from channelsim.channel.store.event_codec import Start

MOST = 1 << 12
"""Transitions that are known at a time: those that were asked for last."""

T = TypeVar("T")

_Key: TypeAlias = "tuple[int, object]"


class Same:
    """A value by its identity, which no other value has as long as this is known."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value


class Transitions:
    """The transitions of one side. Errors are not known: they are raised by each try."""

    def __init__(self) -> None:
        # Each state is kept with its results, so that no other state gets its identity.
        self._known: OrderedDict[_Key, tuple[PeerState, PeerState, tuple[Effect, ...]]]
        self._known = OrderedDict()
        self._first: PeerState | None = None

    def first(self, config: Config) -> PeerState:
        """The state of a peer that has not begun: one object, from which all others follow."""
        if self._first is None:
            self._first = Peer(config).state
        return self._first

    def transition(self, config: Config, state: PeerState, event: Event | Start) -> Transition:
        """The state after an event, and its effects. Raises as `machine.transition` does."""
        key = (id(state), key_of(event))
        known = self._known.get(key)
        if known is None:
            after, effects = _worked_out(config, state, event)
            self._known[key] = (state, after, tuple(effects))
            if len(self._known) > MOST:
                self._known.popitem(last=False)
            return after, effects
        self._known.move_to_end(key)
        _, after, same = known
        return after, list(same)


def _worked_out(config: Config, state: PeerState, event: Event | Start) -> Transition:
    if isinstance(event, Start):
        peer = Peer(config, state)
        effects = peer.start(event.peak)
        return peer.state, effects
    return transition(config, state, event)


def key_of(event: Event | Start) -> object:
    """An event, or its text if it has parts that have no hash."""
    try:
        hash(event)
    except TypeError:
        return repr(event)
    return event


class RememberingPeer(Peer):
    """A peer whose transitions are known to others."""

    def __init__(self, config: Config, state: PeerState, transitions: Transitions) -> None:
        super().__init__(config, state)
        self._transitions = transitions

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain."""
        self.state, effects = self._transitions.transition(self.config, self.state, Start(peak))
        return effects

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event, and return its effects in order. Raises `UsageError`."""
        self.state, effects = self._transitions.transition(self.config, self.state, event)
        return effects


def once(known: dict[object, Any], key: object, work: Callable[[], T]) -> T:
    """The result of some work, which is done once for each key; errors are raised by each try."""
    if key not in known:
        known[key] = work()
    result: T = known[key]
    return result
