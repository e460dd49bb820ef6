"""Ways to plant a fault in the product: in a function, a value, a handler, or in all effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar
from unittest import mock

from channelsim.channel.peer import machine
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import Phase

T = TypeVar("T")

Wrong: TypeAlias = Callable[..., Any]
"""A function in the place of the right one, which it gets as its first argument."""


@dataclass
class Reach:
    """The mark of a fault that has made a difference, or was at least asked to.

    One that only `probes` leaves the product as it is, and marks where the fault would be reached.
    `memory` is what the fault remembers while it is planted, again and again.
    """

    reached: bool = False
    probes: bool = False
    memory: dict[Any, Any] = field(default_factory=dict)

    def mark(self) -> None:
        """Note that it has."""
        self.reached = True


Planting: TypeAlias = Callable[[ExitStack, Reach], object]
"""Plants a fault until the stack is closed, and marks where it makes a difference."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: the part of the product that it is in, and what is wrong there.

    `argued` is the reason for which no session can notice it, and `test` the unit test that does.
    It is `about` a rule or a promise, if one alone is broken.
    """

    name: str
    part: str
    what: str
    plant: Planting = field(repr=False)
    argued: str = ""
    test: str = ""
    about: str = ""


PARTS = ("engine", "chain", "fees", "decks", "store", "watcher", "runner", "link", "commands")
"""The parts of the product that have faults in the table, in the order of the page."""


def called(reach: Reach, right: Any, *given: Any, **more: Any) -> Any:
    """Probe for a function that is called at all."""
    reach.mark()
    return right(*given, **more)


def marking(owner: Any, name: str, wrong: Wrong, probe: Wrong = called) -> Planting:
    """Replace a function of a class or module; the wrong one gets `Reach` and the right one."""
    first = getattr(owner, name)

    def plant(stack: ExitStack, reach: Reach) -> None:
        # Probes are planted together: each goes on with the one before it.
        right = getattr(owner, name) if reach.probes else first
        instead = probe if reach.probes else wrong

        def replaced(*given: Any, **more: Any) -> Any:
            return instead(reach, right, *given, **more)

        stack.enter_context(mock.patch.object(owner, name, replaced))

    return plant


def own_probe(owner: Any, name: str, wrong: Wrong) -> Planting:
    """Replace a function by one that is its own probe: it goes on rightly where `reach.probes`."""
    return marking(owner, name, wrong, wrong)


def function(owner: Any, name: str, wrong: Wrong) -> Planting:
    """Replace a function of a class or module; it is marked where it is called."""

    def marked(reach: Reach, *given: Any, **more: Any) -> Any:
        reach.mark()
        return wrong(*given, **more)

    return marking(owner, name, marked)


def where_it_fails(
    owner: Any, name: str, planting: Planting, error: type[Exception] = Exception
) -> Planting:
    """A fault that makes a difference only where this function fails, as far as a probe knows, by
    such an `error`."""

    async def awaited(reach: Reach, result: Any) -> Any:
        try:
            return await result
        except error:
            reach.mark()
            raise

    def probe(reach: Reach, right: Any, *given: Any, **more: Any) -> Any:
        try:
            result = right(*given, **more)
        except error:
            reach.mark()
            raise
        return awaited(reach, result) if isawaitable(result) else result

    probing = marking(owner, name, probe, probe)
    return lambda stack, reach: (probing if reach.probes else planting)(stack, reach)


def changing(owner: Any, name: str, change: Callable[[Any], Any]) -> Planting:
    """Change what a function of a class or module returns."""

    def changed(reach: Reach, right: Any, *given: Any, **more: Any) -> Any:
        result = right(*given, **more)
        wrong = change(result)
        if wrong != result:
            reach.mark()
        return result if reach.probes else wrong

    return marking(owner, name, changed, changed)


def value(owner: Any, name: str, wrong: object) -> Planting:
    """Replace a value of a class or module."""

    def plant(stack: ExitStack, reach: Reach) -> None:
        reach.mark()
        if not reach.probes:
            stack.enter_context(mock.patch.object(owner, name, wrong))

    return plant


def all_of(*plantings: Planting) -> Planting:
    """Plant several together: one mistake that is made in several places."""

    def plant(stack: ExitStack, reach: Reach) -> None:
        for planting in plantings:
            planting(stack, reach)

    return plant


def handler(phases: Iterable[Phase], event: type, wrong: Wrong) -> Planting:
    """Replace the handler of an event in these phases; probes mark it where that differs."""

    def replaced(reach: Reach, phase: Phase) -> AbstractContextManager[object]:
        table: Any = machine.TRANSITIONS[phase]
        right = table.get(event)
        if right is None:
            return nullcontext()

        def handle(*given: Any) -> Any:
            if not reach.probes:
                reach.mark()
                return wrong(right, *given)
            try:
                result = right(*given)
            except Exception:
                reach.mark()
                raise
            if _tried(reach, partial(wrong, right, *given), result) != result:
                reach.mark()
            return result

        return mock.patch.dict(table, {event: handle})

    def plant(stack: ExitStack, reach: Reach) -> None:
        for phase in phases:
            stack.enter_context(replaced(reach, phase))

    return plant


def _tried(reach: Reach, change: Callable[[], T], right: T) -> T:
    """The result of a change; where it fails, a probe goes on with what is right."""
    try:
        return change()
    except Exception:
        reach.mark()
        if not reach.probes:
            raise
        return right


def compared(owner: Any, name: str, wrong: Wrong, *, once: bool = False) -> Planting:
    """Replace a function of a class or module; it is marked where it returns something else.

    `once`: the right function is called once, with what the wrong one is given.
    """

    def both(reach: Reach, right: Any, *given: Any, **more: Any) -> Any:
        result = right(*given, **more)
        calls = always(result)(right) if once else right
        instead = _tried(reach, partial(wrong, calls, *given, **more), result)
        if instead != result:
            reach.mark()
        return result if reach.probes else instead

    return marking(owner, name, both, both)


def engine(where: str, other: Callable[[Any], Any]) -> Planting:
    """Replace a function or value by what `other` makes of it: `peer.fees:Fees.after`, for example.

    Raises `AttributeError` if the engine has no such place.
    """
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner: Any = import_module(f"channelsim.channel.{module}")
    for part in owners:
        owner = getattr(owner, part)
    right = getattr(owner, name)
    if not callable(right):
        return value(owner, name, other(right))
    return compared(owner, name, lambda right, *given, **more: other(right)(*given, **more))


def always(result: Any) -> Callable[[Any], Any]:
    """Return a value, whatever the right function returns."""
    return lambda right: lambda *given, **more: result


# --- events and effects --------------------------------------------------------------------------


def events(change: Callable[[Peer, Event], Event | None]) -> Planting:
    """Give peers other events; None hides one."""

    def handle(reach: Reach, right: Any, config: Any, state: Any, event: Event) -> Any:
        peer = Peer(config, state)
        unchanged: Event | None = event
        changed = _tried(reach, partial(change, peer, event), unchanged)
        if changed is not event:
            reach.mark()
        if reach.probes:
            return right(config, state, event)
        return (state, []) if changed is None else right(config, peer.state, changed)

    return marking(machine, "transition", handle, handle)


def deaf_to(is_hidden: Callable[[Peer, Event], bool]) -> Planting:
    """Hide these events from peers."""
    return events(lambda peer, event: None if is_hidden(peer, event) else event)


def reactions(change: Callable[[Reach, Peer, Event, list[Effect]], list[Effect]]) -> Planting:
    """Change the effects of each event, by the peer after it."""

    def handle(reach: Reach, right: Any, config: Any, state: Any, event: Event) -> Any:
        after, due = right(config, state, event)
        changed = _tried(reach, partial(change, reach, Peer(config, after), event, due), due)
        if changed != due:
            reach.mark()
        return after, due if reach.probes else changed

    return marking(machine, "transition", handle, handle)


def effects(change: Callable[[Event, list[Effect]], list[Effect]]) -> Planting:
    """Change the effects of each event."""
    return reactions(lambda reach, peer, event, due: change(event, due))


def without(is_lost: Callable[[Effect], bool]) -> Planting:
    """Lose effects."""
    return effects(lambda event, due: [effect for effect in due if not is_lost(effect)])


def in_peers(planting: Planting) -> Planting:
    """Plant a fault in the peers alone: only while one handles an event."""

    def handle(reach: Reach, right: Any, *given: Any) -> Any:
        with ExitStack() as stack:
            planting(stack, reach)
            return right(*given)

    def plant(stack: ExitStack, reach: Reach) -> None:
        if reach.probes:
            planting(stack, reach)
            return
        for name in ("start", "handle"):
            marking(Peer, name, handle)(stack, reach)

    return plant
