"""A durable peer that is restored from an older copy of its store, as by a careless user."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.interface import Connected, Effect, Event, Send
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.session.peer_driver import Actor, PeerStopped
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.chance import Chance


class RestoredPeer:
    """The actor of a peer that is stopped once, and goes on from a copy made earlier.

    Steps count the messages that it sent: the copy is made after `copied`, once the channel's
    states are signed, and put in the place of the store after `stopped`, if the peer still plays.
    `on_copy` is called when the copy is made.
    """

    def __init__(self, peer: Peer, copied: int, stopped: int) -> None:
        self.peer = peer
        self.restored = False
        self.on_copy: Callable[[], None] = lambda: None
        self._copied = copied
        self._stopped = stopped
        self._sent = 0
        self._store = MemoryStore()
        self._copy: MemoryStore | None = None
        self._durable = DurablePeer(peer, self._store)

    def start(self, peak: int) -> list[Effect]:
        """Begin; or go on from the copy."""
        return self._count(self._durable.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event, unless the copy is due. Raises `PeerStopped`."""
        if self._copy is not None and self.is_due(event):
            self.restored = True
            self.peer.state = Peer(self.peer.config).state
            self._durable = DurablePeer(self.peer, self._copy)
            raise PeerStopped(None)
        effects = self._count(self._durable.handle(event))
        if self._copy is None and self._sent >= self._copied and self.peer.state.play is not None:
            self._copy = deepcopy(self._store)
            self.on_copy()
        return effects

    def is_due(self, event: Event) -> bool:
        """True if the copy takes the place of the store before this event.

        Not while a connection is made, which both sides have to see begin once.
        """
        plays = self.peer.phase in (Phase.PLAYING, Phase.CLOSING)
        waits = self._copy is not None and not self.restored and not isinstance(event, Connected)
        return waits and plays and self._sent >= self._stopped

    def _count(self, effects: list[Effect]) -> list[Effect]:
        self._sent += sum(isinstance(one, Send) for one in effects)
        return effects


def actor_of(scenario: Scenario, peer: Peer) -> Actor:
    """The actor of a peer that is not an adversary's: the peer itself, unless it is restored."""
    if not scenario.old_copy or peer.config.side != scenario.honest:
        return peer
    chance = Chance(derive(scenario.seed.encode(), "old copy"))
    return RestoredPeer(peer, chance.below(scenario.old_copy), scenario.old_copy)
