"""The memory of proposals that came to nothing, which a side has to keep: the hands of its player
depend on who cancelled the newest one, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from channelsim.channel.peer.interface import Effect, Event, Send
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import Accept, Batch, Cancel, decode
from channelsim.channel.protocol.state import Group, Side
from channelsim.channel.simulation.run import message_in

Refused = tuple[Side, str, Side, bool] | None
"""The side that cancelled a proposal, and the reason; whose it was, and if it lost its deck."""

LOST = ("PD-9:", "PD-10:")
"""The beginnings of the reasons that are about a deck."""


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
    older = has.history.older
    groups = {
        group.id: group
        for state in (older.state if older else has.state, had.state)
        for group in state.groups
    }
    if isinstance(received, Batch) and is_new and received.number > had.newest.state.number:
        expected = _after(expected, side.other, received, groups)
    for effect in effects:
        message = decode(effect.message) if isinstance(effect, Send) else None
        if isinstance(message, Batch) and message.number > had.state.number:
            expected = _after(expected, side, message, groups)
    if _remembered(has) != expected:
        yield f"remembers {_text(_remembered(has))}, and not {_text(expected)}"


def _after(refused: Refused, sender: Side, batch: Batch, groups: Mapping[int, Group]) -> Refused:
    for action in batch.actions:
        match action:
            case Accept():
                refused = None
            case Cancel(group_id, reason) if group_id in groups:
                group = groups[group_id]
                lost = bool(group.decks()) and reason.startswith(LOST)
                refused = sender, reason, group.proposer, lost
            case _:
                pass
    return refused


def _remembered(play: PlayState) -> Refused:
    one = play.refusal
    return (one.by, one.reason, one.proposer, one.deck_lost) if one is not None else None


def _text(refused: Refused) -> str:
    if refused is None:
        return "no refusal"
    by, _, proposer, lost = refused
    whose, why = proposer.name.lower(), ", for its deck" if lost else ""
    return f"that the {by.name.lower()} refused a proposal of the {whose}{why}"
