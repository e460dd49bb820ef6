"""The actors of processes: they die, and let their players want things, when a script says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.hostile_side import HostileSide
from channelsim.channel.attack.kinds import EVENT, LOST, OLD_COPY, OWN_FAULT, PLANNED
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.interface import (
    Command,
    Connected,
    DeckComputed,
    Effect,
    Event,
    Fault,
    Received,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.session.peer_driver import Actor, PeerStopped
from channelsim.channel.simulation.kills import LOST as BEFORE
from channelsim.channel.simulation.kills import Kill, stage_of
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.watched_peer import WatchedPeer

if TYPE_CHECKING:
    from channelsim.channel.attack.process import Process
    from channelsim.channel.attack.side_processes import SideProcess


LEAVES = (Phase.OPENING, Phase.FUNDING, Phase.PLAYING, Phase.CLOSING)
"""The phases that a peer leaves where it fails to handle an event."""

FAILS_AT = Received | Command | Connected | DeckComputed
"""The events at which it does."""


class NotedPeer(Peer):
    """A peer that notes its last event and effects, for what was stored though it was reported not
    to be.

    It `fails` at the next event where that ends the channel, once.
    """

    last: tuple[Event, list[Effect]] | None = None
    fails: bool = False

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event. Raises `InvariantError` where it fails."""
        if self.fails and self.phase in LEAVES and isinstance(event, FAILS_AT):
            self.fails = False
            raise InvariantError(PLANNED)
        effects = super().handle(event)
        self.last = event, effects
        return effects

    def as_handled(self, event: Event | None) -> Event | None:
        """The last event as a journal has it: a fault in the place of what the peer failed at."""
        return self.last[0] if self.last is not None and isinstance(self.last[0], Fault) else event


@dataclass(slots=True)
class Instant:
    """The state of a peer when its process ended.

    It is one of `states`; with two, the last event is `unsure`, with its effects: it may be stored.
    """

    states: tuple[PeerState, ...]
    unsure: tuple[Event, list[Effect]] | None = None


@dataclass(slots=True)
class MortalPeer:
    """The actor of a process: it dies, and lets its player want things, when the script says so.

    `outside` is the `actor`, or has it beside a process of its own.
    """

    actor: WatchedPeer
    peer: NotedPeer
    process: Process
    outside: Actor
    died: bool = False
    failed: bool = False

    def start(self, peak: int) -> list[Effect]:
        """Begin, or come back. Raises `PeerStopped`."""
        return self._react(None, lambda actor: actor.start(peak), peak)

    def handle(self, event: Event) -> list[Effect]:
        """React to an event. Raises `PeerStopped`."""
        return self._react(event, lambda actor: actor.handle(event))

    def _react(
        self, event: Event | None, react: Callable[[Actor], list[Effect]], peak: int = 0
    ) -> list[Effect]:
        process, before = self.process, self.peer.state
        number, process.events = process.events, process.events + 1
        if self.died or self.failed:
            process.monitors.goes_on(event)

        def lost() -> Kill:
            """A kill before the event."""
            return Kill(number, BEFORE, stage_of(before, event, (), before))

        action = process.next_action(EVENT)
        crash = action if action is not None and action.kind == "crash" else None
        if action is not None and action.kind == "power-loss":
            # Nothing of the event is stored.
            process.lost = action.amount
            self._die(action, Instant((before,)), lost())
            raise PeerStopped(None)
        if crash is not None and process.real is not None:
            self._die_for_real(process.real, crash, number, event, react, peak)
        if crash is not None and crash.amount == LOST:
            self._die(crash, Instant((before,)), lost())
            raise PeerStopped(None)
        if action is not None and action.kind == OLD_COPY:
            if process.copies.can_restore(action, before):
                process.restores = action
                self._die(action, None, lost())
                raise PeerStopped(None)
            process.undone(action)
        if action is not None and action.kind == OWN_FAULT and process.real is None:
            self.peer.fails = True
        process.copies.before_event(before)
        self.peer.last = None
        try:
            with process.monitors.workload.counting():
                effects = react(self.outside)
        except StoreError:
            after = self.peer.state
            unsure = self.peer.last if event is not None else None
            process.ended_at = Instant((before, after), unsure)
            self.failed = True
            raise
        if isinstance(event, Block) and process.runner is not None and process.runner.has_looked:
            process.monitors.looks_again(before)
        process.note_received(before, self.peer.state)
        event = self.peer.as_handled(event)
        process.monitors.follow(event, before, self.peer.state, effects)
        process.monitors.try_restart(process.lasting)
        process.monitors.keeps(process.runner, self.actor.durable)
        if crash is not None:
            carried_out = max(0, len(effects) - (crash.amount - 1))
            stage = stage_of(before, event, effects, self.peer.state)
            kill = Kill(number, carried_out, stage)
            self._die(crash, Instant((self.peer.state,)), kill, effects[carried_out:])
            process.tell_untold(effects[carried_out:])
            raise PeerStopped(effects, carried_out)
        if action is not None:
            asyncio.get_running_loop().call_soon(process.do, action)
        return effects

    def _die_for_real(
        self,
        real: SideProcess,
        crash: Action,
        number: int,
        event: Event | None,
        react: Callable[[Actor], list[Effect]],
        peak: int,
    ) -> NoReturn:
        """Kill the process while it handles an event, of which only its files say if it is stored.

        Raises `PeerStopped`.
        """
        before, effects = self.peer.state, list[Effect]()
        self.peer.last = None
        real.kill(event, peak)
        with suppress(UsageError):
            effects = react(self.actor)
        after, unsure = self.peer.state, self.peer.last if event is not None else None
        kill = Kill(number, BEFORE, stage_of(before, event, effects, after))
        self._die(crash, Instant((before, after), unsure), kill)
        raise PeerStopped(None)

    def _die(
        self, crash: Action, instant: Instant | None, kill: Kill, lost: Sequence[Effect] = ()
    ) -> None:
        self.died = True
        self.process.ended_at = instant
        self.process.go_down(crash)
        self.process.note_killed(self.process.side, kill, lost)


@dataclass(slots=True)
class ObeyingSide:
    """The actor of a hostile process, whose player wants things when the script says so."""

    side: HostileSide
    process: Process
    outside: Actor

    def start(self, peak: int) -> list[Effect]:
        """Begin."""
        return self.outside.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        """React to an event. Raises `UsageError` for a command that changes nothing."""
        action = self.process.next_action(EVENT)
        before = self.side.peer.state
        effects = self.outside.handle(event)
        if isinstance(event, Command) and not effects and self.side.peer.state is before:
            # Its player would ask for it for ever.
            raise UsageError("the adversary does not let its peer do that")
        if action is not None:
            asyncio.get_running_loop().call_soon(self.process.do, action)
        return effects
