"""A new connection: both sides exchange their last numbers, and repeat what the other lacks.

Until the numbers of the other side are here, nothing is signed. They show whether this peer runs
on an old copy of its store; it would sign other states than those that it signed before.
Source: spec/channel.md, "A new connection".
"""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.errors import Violation
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Connected, Effect, Ignored, Send, Tell
from channelsim.channel.peer.opening.handshake import OpeningStep
from channelsim.channel.peer.peer_state import (
    PeerState,
    Phase,
    Transition,
    endpoint_and_play,
    endpoint_of,
    play_of,
)
from channelsim.channel.peer.phases import decks, opening, playing
from channelsim.channel.peer.phases.leaving import leave, outdated
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.peer.play.receiving import early_reveals
from channelsim.channel.protocol.half_signed import verify_halves
from channelsim.channel.protocol.messages import DeckStep, Request, Resume, encode
from channelsim.channel.protocol.state import Side


def on_connected(config: Config, state: PeerState, event: Connected) -> Transition:
    """Send our last numbers on a new connection, and wait for those of the other side."""
    # It repeats what has not changed our numbers.
    if any(not isinstance(held, DeckStep) for _, held in state.early):
        state = replace(state, last_received=b"", last_batch=b"")
    return replace(state, early=(), resuming=True), [Send(encode(last_numbers(play_of(state))))]


def on_opening_connected(config: Config, state: PeerState, event: Connected) -> Transition:
    """Repeat our step of the opening, after our last numbers if its states are signed."""
    repeated: list[Effect] = [Send(state.last_sent)] if state.last_sent else []
    if state.play is None:
        return state, repeated
    state, effects = on_connected(config, state, event)
    return state, [*effects, *repeated]


def on_completed_connected(config: Config, state: PeerState, event: Connected) -> Transition:
    """Repeat our part of the shutdown; what the other side says no longer counts."""
    return state, [Send(encode(last_numbers(play_of(state)))), Send(state.last_sent)]


def on_outdated_connected(config: Config, state: PeerState, event: Connected) -> Transition:
    """Show the other side again that this is an old copy: a message of ours may have been lost."""
    return state, [Send(encode(last_numbers(play_of(state))))]  # CH-RESUME-3


def last_numbers(play: PlayState) -> Resume:
    """Make the message with our last numbers."""
    newest = play.newest
    return Resume(
        newest.state.number,
        _sent(play),
        newest.on_chain.unroll_message,
        *newest.halves,
        tuple(sorted({*play.decks.decks, *_just_named(play)})),
        play.decks.highest,
    )


def on_resume(config: Config, state: PeerState, message: Resume) -> Transition:
    """Compare the other side's last numbers with ours, and repeat what it lacks."""
    if not state.resuming:
        return state, [Tell(Ignored("last numbers that no new connection asked for"))]
    endpoint, play = endpoint_and_play(state)
    _check(config.side.other, message)
    shown = endpoint.channel.on_chain_of(message.received, message.conditions)
    halves = (message.channel_half, message.unroll_half)
    verify_halves(
        endpoint.channel, config.side, message.received, shown, halves, rule="CH-RESUME-2"
    )
    known = play.history.numbered(message.received)
    if known is None or endpoint.channel.on_chain(known) != shown:
        return outdated(state, message.received)
    if message.sent < play.newest.state.number:  # CH-RESUME-3
        reason = "the other side runs on an old copy of its store"
        return leave(config, replace(state, resuming=False), reason)
    state = replace(state, resuming=False)
    state, settled = decks.on_resume(config, state, message)
    repeated = _repeated(state, message)
    state, more = playing.go_on(config, state) if state.phase is Phase.PLAYING else (state, [])
    return state, [*repeated, *settled, *more]


def on_opening_resume(config: Config, state: PeerState, message: Resume) -> Transition:
    """Take last numbers before the opening is over.

    Raises `Violation` if they show that the other side has more of the opening than we sent.
    """
    if state.play is not None:
        return on_resume(config, state, message)
    if state.opening.step is OpeningStep.FUNDING and message.received == 0:
        return state, [Tell(Ignored("last numbers; the step that follows them is missing"))]
    return opening.on_message(config, state, message)


def _check(sender: Side, message: Resume) -> None:
    """Check that the numbers can be those of this side. Raises `Violation`."""
    received, sent = message.received, message.sent
    if received % 2 != sender or abs(received - sent) != 1:
        raise Violation("CH-RESUME-1", f"received state {received}, and sent state {sent}")


def _sent(play: PlayState) -> int:
    """The number of the newest state that we sent."""
    received = play.newest.state.number
    return received - 1 if play.state.number == received else play.state.number


def _just_named(play: PlayState) -> set[int]:
    """The decks that our last batch named, which the other side may not have."""
    before = play.history.older
    if play.potato or before is None:
        return set()
    new = [group for group in play.state.groups if before.state.group(group.id) is None]
    return {number for group in new for number in group.decks()}


def _repeated(state: PeerState, message: Resume) -> list[Effect]:
    """Our messages that the other side lacks, by its numbers."""
    play = play_of(state)
    if state.phase is Phase.CLOSING or message.received < _sent(play):
        return [Send(state.last_sent), *_request(play, message)]
    if not play.potato:
        return _request(play, message)
    if play.state.number == 1:
        return [Send(state.last_sent)]  # the completed funding
    before = play.history.older
    return early_reveals(endpoint_of(state), before.state, play) if before else []


def _request(play: PlayState, message: Resume) -> list[Effect]:
    """Our request for the potato, unless the other side has answered it."""
    answered = message.sent > play.newest.state.number
    return [Send(encode(Request()))] if play.we_asked and not answered else []
