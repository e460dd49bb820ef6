"""Messages and connections that a side passes over, though it has something to do or to say, and
what it failed to handle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from channelsim.channel.peer.interface import Connected, Effect, Event, Fault, Received, Send
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.messages import DeckStep
from channelsim.channel.simulation.run import message_in

CONNECTED = (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING, Phase.COMPLETED, Phase.OUTDATED)
"""The phases in which a side has something to say on each new connection."""


def is_passed_over(
    event: Event, before: PeerState, after: PeerState, effects: Sequence[Effect]
) -> bool:
    """True if a side does nothing with a message, or says nothing on a new connection."""
    if isinstance(event, Connected):
        speaks = any(isinstance(effect, Send) for effect in effects)
        return before.phase in CONNECTED and not speaks
    if effects or not isinstance(event, Received) or event_name(event) == DeckStep.__name__:
        return False
    return before == structs.replace(
        after, last_received=before.last_received, last_batch=before.last_batch
    )


def stays(event: Event | None, after: PeerState) -> bool:
    """True if a side that failed to handle an event is still in play."""
    return isinstance(event, Fault) and after.phase not in (Phase.ON_CHAIN, Phase.FAILED)


def event_name(event: Event) -> str:
    """The name of an event, or of the message that it brings."""
    return type(message_in(event) or event).__name__
