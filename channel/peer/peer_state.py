"""State of one peer: one immutable value, which each transition replaces."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.chain_news import ChannelClosed
from channelsim.channel.peer.deadlines import Marks
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.fees.fee_state import FeeState
from channelsim.channel.peer.interface import Effect
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.opening.handshake import Opened, Opening
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.protocol.messages import Message


class Phase(Enum):
    """The stages in the life of a channel, as one peer sees it."""

    OPENING = "the opening"
    FUNDING = "the funding"
    PLAYING = "play"
    CLOSING = "the shutdown that we asked for"
    COMPLETED = "the completed shutdown"
    CLOSED = "the end"
    ON_CHAIN = "the chain"
    FAILED = "a failed opening"
    OUTDATED = "an old copy of its store"


class PeerState(msgspec.Struct, frozen=True):
    """All that one peer knows of its channel.

    `block` is the newest block, with all coins that we watch. `endpoint` is there once the
    channel is known, `play` once its first states are signed, `shutdown` once our half of it is
    out, and `dispute` once the channel is on chain.

    `early` are messages that came before the channel coin was deep, each with its digest.
    `last_received` and `last_batch` are digests, to recognise a repeat. `marks` say since when
    each answer is due. `closed` is the clean shutdown that we reported. `was_deep`: the channel
    coin has been deep enough to play. `proposals_ended`: the player has been notified that no
    open proposal will be answered.

    `last_sent` is our newest message that the other side may not have: a step of the opening, a
    batch, our half of the shutdown, or its completion. `resuming`: the connection is new, and the
    other side's last numbers are not here. `shown` is the number of a state that we signed and do
    not know. `fees` are our offers to the mempool.
    """

    opening: Opening
    phase: Phase = Phase.OPENING
    block: Block = Block(0)
    endpoint: Endpoint | None = None
    play: PlayState | None = None
    shutdown: CleanShutdown | None = None
    dispute: Dispute | None = None
    early: tuple[tuple[bytes, Message], ...] = ()
    last_received: bytes = b""
    last_batch: bytes = b""
    marks: Marks = msgspec.field(default_factory=dict)
    closed: ChannelClosed | None = None
    was_deep: bool = False
    proposals_ended: bool = False
    last_sent: bytes = b""
    resuming: bool = False
    shown: int | None = None
    fees: FeeState = FeeState()


Transition: TypeAlias = tuple[PeerState, list[Effect]]
"""The state after an event, and the effects of the event in order."""


def endpoint_of(state: PeerState) -> Endpoint:
    """Our side of the channel. Raises `InvariantError` before the channel is known."""
    if state.endpoint is None:
        raise InvariantError("the channel is not known yet")
    return state.endpoint


def play_of(state: PeerState) -> PlayState:
    """The state of play. Raises `InvariantError` before the channel's first states are signed."""
    if state.play is None:
        raise InvariantError("the channel is not open")
    return state.play


def endpoint_and_play(state: PeerState) -> tuple[Endpoint, PlayState]:
    """Both. Raises `InvariantError` before the channel's first states are signed."""
    if state.endpoint is None or state.play is None:
        raise InvariantError("the channel is not open")
    return state.endpoint, state.play


def opened_of(state: PeerState) -> Opened:
    """The channel as it was opened. Raises `InvariantError` before its first states are signed."""
    if state.opening.opened is None:
        raise InvariantError("the channel is not open")
    return state.opening.opened
