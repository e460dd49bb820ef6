"""Stages of a session, by which kills are counted and aimed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from channelsim.channel.errors import Violation
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
    Message,
    Shutdown,
    ShutdownDone,
    decode,
)
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
    messages = [_read(one.message) for one in effects if isinstance(one, Send)]
    if isinstance(event, Received):
        messages.append(_read(event.message))
    closing = {before.phase, after.phase} & {*_SHUTDOWN} or isinstance(event, Close)
    if closing or any(isinstance(one, Shutdown | ShutdownDone) for one in messages):
        return Stage.SHUTDOWN
    deck = isinstance(event, PrepareDeck | DeckComputed)
    if deck or any(isinstance(one, ComputeDeck) for one in effects):
        return Stage.DECK_STEP
    if any(isinstance(one, DeckStep | DeckAbort) for one in messages):
        return Stage.DECK_STEP
    return Stage.BATCH if any(isinstance(one, Batch) for one in messages) else Stage.REST


def _read(blob: bytes) -> Message | None:
    try:
        return decode(blob)
    except Violation:
        return None
