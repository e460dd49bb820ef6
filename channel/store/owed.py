"""The messages that a peer repeats after a lost connection or a restart.

Source: spec/channel.md, "The potato": whoever is owed an answer repeats its stored bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.channel.peer.interface import Send
from channelsim.channel.peer.opening.handshake import OpeningStep
from channelsim.channel.peer.peer_state import PeerState, Phase, endpoint_of, play_of
from channelsim.channel.peer.play.receiving import early_reveals
from channelsim.channel.protocol.messages import Request, encode
from channelsim.channel.protocol.state import Side

OPENING = {
    Side.INITIATOR: {
        OpeningStep.HELLO: "opening/hello",
        OpeningStep.FIRST_HALVES: "opening/launch",
        OpeningStep.FUNDED: "opening/funding",
    },
    Side.RECEIVER: {
        OpeningStep.LAUNCH: "opening/welcome",
        OpeningStep.FUNDING: "opening/firsthalves",
        OpeningStep.DONE: "opening/funded",
    },
}
"""The record of our message that the step of an opening waits for an answer to."""


def owed_messages(side: Side, state: PeerState, records: Mapping[str, bytes]) -> tuple[bytes, ...]:
    """List our messages that the other side may not have, in order; it ignores those it has.

    `records` are the bytes that the peer stored, by name.
    """
    match state.phase:
        case Phase.OPENING | Phase.FUNDING:
            return _stored(records, OPENING[side].get(state.opening.step, ""))
        case Phase.PLAYING:
            return _in_play(state, records)
        case Phase.CLOSING:
            return _stored(records, "shutdown/asked")
        case Phase.COMPLETED:
            return _stored(records, "shutdown/completed")
        case Phase.CLOSED | Phase.ON_CHAIN | Phase.FAILED:
            return ()


def _in_play(state: PeerState, records: Mapping[str, bytes]) -> tuple[bytes, ...]:
    play, endpoint = play_of(state), endpoint_of(state)
    if play.potato:
        # The other side has all our batches. It may lack the early reveals that we sent since.
        before = play.history.older
        reveals = early_reveals(endpoint, before.state, play) if before else []
        return tuple(effect.message for effect in reveals if isinstance(effect, Send))
    request = (encode(Request()),) if play.we_asked else ()
    return _stored(records, "last-sent") + request


def _stored(records: Mapping[str, bytes], name: str) -> tuple[bytes, ...]:
    return (records[name],) if name in records else ()
