"""Messages that come before play: a side keeps them, and handles them in their order.

The other side may see that the channel coin is deep before this one does. Source: spec/channel.md,
"Steps of decks" and "The potato".
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.peer.interface import Event
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.messages import Batch, DeckStep, Request
from channelsim.channel.simulation.run import message_in


def lost_early(event: Event | None, before: PeerState, after: PeerState) -> Iterator[str]:
    """Find the first step of a deck before play that is not kept."""
    message = message_in(event)
    if not isinstance(message, DeckStep) or before.play is None or before.resuming:
        return
    is_early = before.phase in (Phase.OPENING, Phase.FUNDING) and after.phase is before.phase
    held = [early for _, early in before.early if isinstance(early, DeckStep)]
    if is_early and not held and message not in [one for _, one in after.early]:
        yield f"loses step {message.step} of deck {message.deck_no}, which comes before play"


def is_asked_early(state: PeerState) -> bool:
    """True if the messages that a side keeps ask it for the potato, in their order."""
    has = state.play is not None and state.play.potato
    is_asked = False
    for _, message in state.early:
        match message:
            case Batch():
                has, is_asked = True, False
            case Request():
                is_asked = has
            case _:
                pass
    return is_asked
