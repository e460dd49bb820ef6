"""Kills of a peer.

An instant lies before an event is durable, or between two of its effects. Kills are counted and
aimed by the stage of a session in which they fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from channelsim.channel.peer.interface import (
    Close,
    ComputeDeck,
    DeckComputed,
    Effect,
    PrepareDeck,
    Received,
    Send,
)
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.messages import (
    Batch,
    DeckAbort,
    DeckStep,
    Shutdown,
    ShutdownDone,
)
from channelsim.channel.simulation.run import read_message
from channelsim.channel.store.event_codec import JournalEvent


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
