"""The memory of proposals that came to nothing, which a side has to keep: the hands of its player
depend on who cancelled the newest one, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.peer.interface import Effect, Event, Send
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import Accept, Batch, Cancel, decode
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.run import message_in

Refused = tuple[Side, str] | None
"""The side that cancelled a proposal, and the reason."""


def wrong_refusal(
    side: Side, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
) -> Iterator[str]:
    """Find a side that remembers another refusal than the batches of both sides lead to."""
    had, has = before.play, after.play
    if event is None or had is None or has is None or after.phase is not Phase.PLAYING:
        return
    expected = _remembered(had)
    received = message_in(event)
    is_new = isinstance(received, Batch) and received.number == has.newest.state.number
    if isinstance(received, Batch) and is_new and received.number > had.newest.state.number:
        expected = _after(expected, side.other, received)
    for effect in effects:
        message = decode(effect.message) if isinstance(effect, Send) else None
        if isinstance(message, Batch) and message.number > had.state.number:
            expected = _after(expected, side, message)
    if _remembered(has) != expected:
        yield f"remembers {_text(_remembered(has))} of a proposal, and not {_text(expected)}"


def _after(refused: Refused, sender: Side, batch: Batch) -> Refused:
    for action in batch.actions:
        match action:
            case Accept():
                refused = None
            case Cancel(_, reason):
                refused = sender, reason
            case _:
                pass
    return refused


def _remembered(play: PlayState) -> Refused:
    return (play.refusal.by, play.refusal.reason) if play.refusal is not None else None


def _text(refused: Refused) -> str:
    return "no refusal" if refused is None else f"that the {refused[0].name.lower()} refused"
