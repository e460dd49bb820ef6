"""Ways to plant a fault in the product: in a function, a value, a handler, or in all effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, TypeAlias
from unittest import mock
from weakref import WeakKeyDictionary

from channelsim.channel.peer import machine
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.simulation.faults.kinds import EngineFault
from channelsim.channel.simulation.faults.kinds import Plant as PeerPlant

Wrong: TypeAlias = Callable[..., Any]
"""A function in the place of the right one, which it gets as its first argument."""


@dataclass
class Reach:
    """Whether a fault has made a difference, or was at least asked to.

    One that only `probes` leaves the product as it is, and marks where the fault would be reached.
    """

    reached: bool = False
    probes: bool = False

    def mark(self) -> None:
        """Note that it has."""
        self.reached = True


Planting: TypeAlias = Callable[[ExitStack, Reach], object]
"""Plants a fault until the stack is closed, and marks where it makes a difference."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: the part of the product that it is in, and what is wrong there.

    `argued` is the reason for which no session can notice it, and `test` the unit test that does.
    """

    name: str
    part: str
    what: str
    plant: Planting = field(repr=False)
    argued: str = ""
    test: str = ""


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


def differing(owner: Any, name: str, wrong: Wrong) -> Planting:
    """Replace a function whose wrong form calls the right one once, and returns something else.

    It is marked where it does, or where it fails: what it returns is compared.
    """

    def marked(reach: Reach, right: Any, *given: Any, **more: Any) -> Any:
        result = right(*given, **more)
        try:
            other = wrong(lambda *given, **more: result, *given, **more)
        except Exception:
            reach.mark()
            if not reach.probes:
                raise
            return result
        if other != result:
            reach.mark()
        return result if reach.probes else other

    return marking(owner, name, marked, marked)


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
    """Replace the handler of an event in these phases."""

    def replaced(reach: Reach, phase: Phase) -> AbstractContextManager[object]:
        table: Any = machine.TRANSITIONS[phase]
        right = table.get(event)
        if right is None:
            return nullcontext()

        def handle(*given: Any) -> Any:
            reach.mark()
            return right(*given) if reach.probes else wrong(right, *given)

        return mock.patch.dict(table, {event: handle})

    def plant(stack: ExitStack, reach: Reach) -> None:
        for phase in phases:
            stack.enter_context(replaced(reach, phase))

    return plant


def effects(change: Callable[[Event, list[Effect]], list[Effect]]) -> Planting:
    """Change the effects of each event."""
    first = machine.transition

    def plant(stack: ExitStack, reach: Reach) -> None:
        right = machine.transition if reach.probes else first

        def replaced(config: Any, state: Any, event: Event) -> Any:
            after, due = right(config, state, event)
            changed = change(event, due)
            if changed != due:
                reach.mark()
            return after, due if reach.probes else changed

        stack.enter_context(mock.patch.object(machine, "transition", replaced))

    return plant


def without(is_lost: Callable[[Effect], bool]) -> Planting:
    """Lose effects."""
    return effects(lambda event, due: [effect for effect in due if not is_lost(effect)])


def in_peer(plant_in: PeerPlant) -> Planting:
    """Plant a fault of `dispute faults` in each peer."""
    start, handle = Peer.start, Peer.handle

    def probe(stack: ExitStack, reach: Reach) -> None:
        # Probes are planted together: each goes on with the one before it.
        inner = Peer.handle
        twins: WeakKeyDictionary[Peer, EngineFault] = WeakKeyDictionary()

        def handles(peer: Peer, event: Event) -> list[Effect]:
            before, due = peer.state, inner(peer, event)
            if reach.reached:
                return due
            fault = twins.get(peer)
            if fault is None:
                fault = twins[peer] = plant_in(Peer(peer.config))
            if fault.is_inside:
                reach.mark()
                return due
            twin, after = fault.peer, peer.state
            twin.state = before

            def reacts(other: Event | None) -> list[Effect]:
                if other is not event:
                    return handle(twin, other) if other is not None else []
                twin.state = after
                return list(due)

            try:
                fault.react(event, reacts)
            except Exception:
                # It makes a difference that the right peer may never meet.
                reach.mark()
            if fault.reached:
                reach.mark()
            return due

        stack.enter_context(mock.patch.object(Peer, "handle", handles))

    def plant(stack: ExitStack, reach: Reach) -> None:
        if reach.probes:
            probe(stack, reach)
            return
        planted: WeakKeyDictionary[Peer, EngineFault] = WeakKeyDictionary()

        def reacting(peer: Peer, event: Event | None, react: Any) -> list[Effect]:
            fault = planted.get(peer)
            if fault is None:
                fault = planted[peer] = plant_in(peer)
            done = fault.react(event, react)
            if fault.reached:
                reach.mark()
            return done

        def starts(peer: Peer, peak: int) -> list[Effect]:
            return reacting(peer, None, lambda event: start(peer, peak))

        def handles(peer: Peer, event: Event) -> list[Effect]:
            return reacting(peer, event, lambda other: handle(peer, other) if other else [])

        stack.enter_context(mock.patch.object(Peer, "start", starts))
        stack.enter_context(mock.patch.object(Peer, "handle", handles))

    return plant
