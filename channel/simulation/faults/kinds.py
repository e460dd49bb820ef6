"""Kinds of faults: in a peer's events, in its effects, or in one function of the engine.

A fault is in place only while its peer handles an event; the other side's peer is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, TypeAlias

from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.simulation.faults.skipped_checks import EngineCheck, skipped


class EngineFault:
    """A fault in one peer for one run; `reached`: it has made a difference."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.reached = False

    def mark(self) -> None:
        """Note that the fault made a difference."""
        self.reached = True

    def around(self) -> AbstractContextManager[None]:
        """The context in which the peer handles an event."""
        return nullcontext()

    def event(self, event: Event | None) -> Event | None:
        """The event that the peer handles instead of this one; None stands for its start."""
        return event

    def drops(self, event: Event | None) -> bool:
        """True if the peer does not handle an event at all."""
        return False

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects to carry out instead of these."""
        return effects


Plant: TypeAlias = Callable[[Peer], EngineFault]
"""Makes the fault of one peer."""

EventChange: TypeAlias = Callable[[Peer, Event | None], Event | None]
EffectsChange: TypeAlias = Callable[[Peer, Event | None, list[Effect]], list[Effect]]
"""Takes the event, and the peer's effects of it."""

# --- events and effects --------------------------------------------------------------------------


class ChangesEvents(EngineFault):
    """Gives the peer other events."""

    def __init__(self, peer: Peer, change: EventChange) -> None:
        super().__init__(peer)
        self._change = change

    def event(self, event: Event | None) -> Event | None:
        """The changed event."""
        changed = self._change(self.peer, event)
        if changed is not event:
            self.mark()
        return changed


class HidesEvents(EngineFault):
    """Hides some events from the peer."""

    def __init__(self, peer: Peer, hidden: Callable[[Peer, Event | None], bool]) -> None:
        super().__init__(peer)
        self._hidden = hidden

    def drops(self, event: Event | None) -> bool:
        """True if it hides this event."""
        hidden = self._hidden(self.peer, event)
        self.reached = self.reached or hidden
        return hidden


class ChangesEffects(EngineFault):
    """Carries out other effects."""

    def __init__(self, peer: Peer, change: EffectsChange) -> None:
        super().__init__(peer)
        self._change = change
        self._cause: Event | None = None

    def event(self, event: Event | None) -> Event | None:
        """Note the event that the effects follow from."""
        self._cause = event
        return event

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The changed effects."""
        changed = self._change(self.peer, self._cause, effects)
        if changed != effects:
            self.mark()
        return changed


def events(change: EventChange) -> Plant:
    """Give the peer other events."""
    return lambda peer: ChangesEvents(peer, change)


def deaf_to(hidden: Callable[[Peer, Event | None], bool]) -> Plant:
    """Hide these events from the peer."""
    return lambda peer: HidesEvents(peer, hidden)


def effects(change: EffectsChange) -> Plant:
    """Carry out other effects."""
    return lambda peer: ChangesEffects(peer, change)


# --- the engine ----------------------------------------------------------------------------------


class SkipsCheck(EngineFault):
    """Skips a check of the engine."""

    def __init__(self, peer: Peer, check: EngineCheck) -> None:
        super().__init__(peer)
        self._check = check

    def around(self) -> AbstractContextManager[None]:
        """Skip the check."""
        return skipped(self._check, self.mark)


class Replaced(EngineFault):
    """Replaces one function or constant of the engine by what `other` makes of it.

    A function makes a difference where it returns something else than the original.
    """

    def __init__(self, peer: Peer, where: str, other: Callable[[Any], Any]) -> None:
        super().__init__(peer)
        self._where = where
        self._other = other

    @contextmanager
    def around(self) -> Iterator[None]:
        """Replace the function."""
        module, _, path = self._where.partition(":")
        *owners, name = path.split(".")
        owner: Any = import_module(f"channelsim.channel.{module}")
        for part in owners:
            owner = getattr(owner, part, None)
        original = vars(owner).get(name) if owner is not None else None
        if original is None:
            raise InvariantError(f"the engine has no {self._where}: the fault cannot be planted")
        replacement = self._other(original)

        def function(*args: Any, **more: Any) -> Any:
            value = replacement(*args, **more)
            if value != original(*args, **more):
                self.mark()
            return value

        if not callable(original):
            self.mark()
        setattr(owner, name, function if callable(original) else replacement)
        try:
            yield
        finally:
            setattr(owner, name, original)


def engine(where: str, other: Callable[[Any], Any]) -> Plant:
    """Replace a function or constant of the engine: `peer.fees:Fees.after`, for example."""
    return lambda peer: Replaced(peer, where, other)


def always(value: Any) -> Callable[[Any], Any]:
    """Return a value, whatever the original returns."""
    return lambda original: lambda *args, **more: value
