"""A side in a process, which may be killed and come back.

A copy of it is here. Both handle the same events, and what the process does is compared
with what the copy does. After a kill the store of the process is read, which must hold what the
copy stored before the event or after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import NoReturn, TypeVar

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.interface import (
    Effect,
    Event,
    Proposed,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.peer_driver import Actor, PeerStopped
from channelsim.channel.simulation.kills import LOST, Dies, Kill, stage_of
from channelsim.channel.simulation.peer_process import PeerProcess
from channelsim.channel.simulation.side_process import (
    EVENTS_PER_SNAPSHOT,
    REFUSED,
    effects_digest,
)
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import Contents, PeerStore
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.chance import Chance

T = TypeVar("T")


class RemoteActor:
    """The actor of a side that lives in `process`; `peer` is its copy.

    A peer has a store, from which it comes back; an adversary has none. `dies` says at which
    instants a process is killed, and `kills` are these; the driver restarts it at once. It dies at
    once or a little later, by `chance`.
    """

    def __init__(
        self,
        actor: Peer | Adversary,
        process: PeerProcess,
        dies: Dies | None = None,
        *,
        chance: Chance | None = None,
    ) -> None:
        self.peer = actor if isinstance(actor, Peer) else actor.peer
        self.process = process
        self.kills: list[Kill] = []
        self._actor: Actor | None = None if isinstance(actor, Peer) else actor
        self._dies = dies
        self._chance = chance or Chance(b"")
        self._store: PeerStore = MemoryStore()
        self._events = 0
        self._unheard: list[Effect] = []

    # --- an actor ---

    def start(self, peak: int) -> list[Effect]:
        """Begin; or come back from the store, as a new process does."""
        if self._actor is None:
            self.peer.state = Peer(self.peer.config).state
            self._actor = DurablePeer(self.peer, self._store, EVENTS_PER_SNAPSHOT)
        call, react = methodcaller("start", peak), partial(self._actor.start, peak)
        if not self._events:
            return self._live(None, call, react)
        # The simulated player lives on, so it hears the news that its peer could not tell.
        unheard, self._unheard = self._unheard, []
        return [*self._done(call, self._react(call, react)), *unheard]

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event, unless this is the peer's last instant.

        Raises `UsageError` for a command that is not possible now, and `PeerStopped`.
        """
        if self._actor is None:
            raise PeerStopped(None)
        react = partial(self._actor.handle, event)
        return self._live(event, self.process.call_of(event), react)

    def finish_block(self) -> list[Effect]:
        """An adversary's last effects after a block."""
        call = methodcaller("finish_block")
        return self._done(call, self._react(call, self._adversary().finish_block))

    def breaks_connection(self) -> bool:
        """True if an adversary breaks the connection now."""
        call = methodcaller("breaks_connection")
        breaks = self._react(call, self._adversary().breaks_connection)
        self._compare(call, breaks)
        return breaks

    def close(self) -> None:
        """End the process."""
        self.process.child.kill()

    def _adversary(self) -> Adversary:
        if not isinstance(self._actor, Adversary):
            raise InvariantError(f"{self.peer.config.name} is not an adversary")
        return self._actor

    # --- the process and its copy ---

    def _react(self, call: methodcaller, react: Callable[[], T]) -> T:
        """Let the process and its copy react. Raises `UsageError` if both refuse.

        An adversary replaces blocks in both at once. Where a process may be killed its copy reacts
        first, so that the kill falls into the work of the process.
        """
        if self._dies is None:
            self.process.child.send(call)
        try:
            return react()
        except UsageError:
            self._compare(call, REFUSED)
            raise

    def _done(self, call: methodcaller, effects: list[Effect]) -> list[Effect]:
        """Compare the reactions, and note what follows from them."""
        self._compare(call, effects_digest(effects))
        self.process.follow(effects)
        return effects

    def _compare(self, call: methodcaller, answer: object) -> None:
        if self._dies is not None:
            self.process.child.send(call)
        if self.process.child.receive() != answer:
            name = self.peer.config.name
            raise InvariantError(f"{name}: its process and its copy react differently to {call}")

    # --- the end of its life ---

    def _live(
        self, event: Event | None, call: methodcaller, react: Callable[[], list[Effect]]
    ) -> list[Effect]:
        """Let both react to an event (None: the start), unless the peer is killed meanwhile."""
        before = self.peer.state
        stored = self._store.load() if self._dies is not None else Contents()
        effects = self._react(call, react)
        number, self._events = self._events, self._events + 1
        if self._dies is not None and event is not None:
            kill = Kill(number, LOST, stage_of(before, event, effects, self.peer.state))
            if self._dies(kill):
                self.process.child.send(call)
                self.process.child.strike(self._chance)
                if self._has_stored(self.process.stored(), stored):
                    self._end(replace(kill, effects=0), effects)
                self._end(kill)
        return self._done(call, effects)

    def _has_stored(self, contents: Contents, before: Contents) -> bool:
        """True if a process that was killed amid an event has stored that; it goes on from there.

        It can have taken a snapshot, too, and then stored nothing.
        """
        after, self._store = self._store.load(), MemoryStore(contents)
        snapshot = replace(after, events=()) if after.snapshot != before.snapshot else before
        if contents not in (before, snapshot, after):
            raise InvariantError("the store has neither what it had before an event nor after it")
        return contents == after

    def _end(self, kill: Kill, effects: list[Effect] | None = None) -> NoReturn:
        """End this life at an instant, with these effects if their event is stored.

        Raises `PeerStopped`.
        """
        carried_out = kill.effects if effects is not None else 0
        self.kills.append(kill)
        self._actor = None
        self._unheard = untold((effects or [])[carried_out:])
        self.process.restart()
        raise PeerStopped(effects, carried_out)


def untold(effects: Sequence[Effect]) -> list[Effect]:
    """The news among effects that were not carried out; a restarted peer asks again by itself."""
    return [
        effect
        for effect in effects
        if isinstance(effect, Tell) and not isinstance(effect.news, Proposed | YourTurn)
    ]
