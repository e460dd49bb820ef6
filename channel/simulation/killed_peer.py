"""A durable peer whose end is simulated at chosen instants, and that is restarted from its store.

An instant lies before an event is durable, or between two of its effects. Kills are counted and
aimed by the stage of a session in which they fall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import (
    Close,
    ComputeDeck,
    DeckComputed,
    Effect,
    Event,
    PrepareDeck,
    Proposed,
    Received,
    Send,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.messages import (
    Batch,
    DeckAbort,
    DeckStep,
    Shutdown,
    ShutdownDone,
)
from channelsim.channel.session.peer_driver import PeerStopped
from channelsim.channel.simulation.run import read_message
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import JournalEvent
from channelsim.channel.store.interface import PeerStore
from channelsim.channel.store.memory_store import MemoryStore


class Stage(StrEnum):
    """What a peer is busy with while it handles an event.

    A deck step is a message or a computation of a deck, a batch is one that comes in or goes out;
    `REST` is all else during play: blocks, requests, connections.
    """

    OPENING = "opening"
    DECK_STEP = "deck_step"
    BATCH = "batch"
    SHUTDOWN = "shutdown"
    DISPUTE = "dispute"
    REST = "rest"


AIMS = tuple(stage for stage in Stage if stage is not Stage.REST)
"""The stages at which kills are aimed in turn."""

_OPENING = (Phase.OPENING, Phase.FUNDING, Phase.FAILED)
_SHUTDOWN = (Phase.CLOSING, Phase.COMPLETED, Phase.CLOSED)


def stage_of(
    before: PeerState, event: JournalEvent | None, effects: Sequence[Effect], after: PeerState
) -> Stage:
    """The stage in which a peer handled an event (None: its start), with these effects."""
    if after.dispute is not None:
        return Stage.DISPUTE
    if before.phase in _OPENING:
        return Stage.OPENING
    blobs = [effect.message for effect in effects if isinstance(effect, Send)]
    if isinstance(event, Received):
        blobs.append(event.message)
    messages = [*map(read_message, blobs)]
    closing = {before.phase, after.phase} & {*_SHUTDOWN} or isinstance(event, Close)
    if closing or any(isinstance(message, Shutdown | ShutdownDone) for message in messages):
        return Stage.SHUTDOWN
    deck = isinstance(event, PrepareDeck | DeckComputed)
    if deck or any(isinstance(effect, ComputeDeck) for effect in effects):
        return Stage.DECK_STEP
    if any(isinstance(message, DeckStep | DeckAbort) for message in messages):
        return Stage.DECK_STEP
    return Stage.BATCH if any(isinstance(message, Batch) for message in messages) else Stage.REST


EVENTS_PER_SNAPSHOT = 9
"""Often enough for a short session to be restarted from many snapshots."""

LOST = -1
"""The instant before an event is durable."""


@dataclass(frozen=True, slots=True)
class Kill:
    """An instant: in which event of the peer (its start is 0), after how many of its effects.

    With `effects` `LOST`, the event is lost too. `stage` says what the peer was busy with.
    """

    event: int
    effects: int
    stage: Stage = field(default=Stage.REST, compare=False)


class KilledPeer:
    """A peer's actor that is killed at the instants for which `dies` is true.

    The driver restarts it at once. `dies` is called with every instant, in order, and `kills` are
    those at which it was true. A command of the player is never lost: a kill before it
    is one after the event before.
    """

    def __init__(
        self, peer: Peer, dies: Callable[[Kill], bool], store: PeerStore | None = None
    ) -> None:
        self.kills: list[Kill] = []
        self._peer = peer
        self._dies = dies
        self._store = store or MemoryStore()
        self._events = 0
        self._durable: DurablePeer | None = None
        self._unheard: list[Effect] = []

    def start(self, peak: int) -> list[Effect]:
        """Begin; or come back from the store, as a new process does."""
        if self._durable is None:
            self._peer.state = Peer(self._peer.config).state
            self._durable = DurablePeer(self._peer, self._store, EVENTS_PER_SNAPSHOT)
        if self._events:
            # The simulated player lives on, so it hears the news that its peer could not tell.
            unheard, self._unheard = self._unheard, []
            return [*self._durable.start(peak), *unheard]
        before = self._peer.state
        return self._live(before, None, self._durable.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event, unless this is the peer's last instant. Raises `PeerStopped`."""
        if self._durable is None:
            raise PeerStopped(None)
        if isinstance(event, Received | Block):
            state = self._peer.state
            kill = Kill(self._events, LOST, stage_of(state, event, (), state))
            if self._dies(kill):
                self._events += 1
                self._die(kill, None)
        before = self._peer.state
        return self._live(before, event, self._durable.handle(event))

    def close(self) -> None:
        """Leave nothing behind: everything is in memory."""

    def _live(self, before: PeerState, event: Event | None, effects: list[Effect]) -> list[Effect]:
        """Let the driver carry out all effects, or those before the peer's last instant."""
        stage = stage_of(before, event, effects, self._peer.state)
        number, self._events = self._events, self._events + 1
        for count in range(len(effects) + 1):
            kill = Kill(number, count, stage)
            if self._dies(kill):
                self._die(kill, effects, count)
        return effects

    def _die(self, kill: Kill, effects: list[Effect] | None, carried_out: int = 0) -> None:
        self.kills.append(kill)
        self._durable = None
        self._unheard = untold((effects or [])[carried_out:])
        raise PeerStopped(effects, carried_out)


def untold(effects: Sequence[Effect]) -> list[Effect]:
    """The news among effects that were not carried out; a restarted peer asks again by itself."""
    return [
        effect
        for effect in effects
        if isinstance(effect, Tell) and not isinstance(effect.news, Proposed | YourTurn)
    ]
