"""Check the overview of a peer with its keys: it can be shown, with the right dues and money."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer_text.channel_overview import overview_lines, overview_of_peer
from channelsim.channel.session.setup import NAMES

MOVES = "CH-TIME-2"
"""The rule by which a move is due."""


def wrong_overview(config: Config, state: PeerState) -> Iterator[str]:
    """Find what an overview of a peer in this state says that is not so."""
    try:
        overview = overview_of_peer(Peer(config, state))
        lines = [*overview_lines(overview)]
    except Exception as error:
        # Whatever it is, a user would see it in the place of the overview.
        yield f"cannot be shown: {type(error).__name__}: {error}"
        return
    yield from (f"has the line {line[:100]!r}" for line in lines if not line.isprintable())
    if state.play is not None:
        balances = dict(zip(NAMES, state.play.state.balances, strict=True))
        if overview["states"]["balances"] != balances:
            yield f"has the balances {overview['states']['balances']}, and not {balances}"
    us, them = NAMES[config.side], NAMES[config.side.other]
    due = {(due_item["who"], due_item["height"]) for due_item in overview["due"]}
    times = config.agreement.times
    if state.phase in (Phase.PLAYING, Phase.CLOSING):
        for awaited, since in state.marks.items():
            limit = times.margin + (times.move if awaited.rule == MOVES else times.response)
            if (them, since + limit) not in due:
                yield f"does not have {awaited.what} by height {since + limit}"
    if state.dispute is not None and state.phase is Phase.ON_CHAIN:
        height = _unroll_due(state.dispute)
        if height is not None and (us, height) not in due:
            yield f"does not have a spend of the published state at height {height}"


def _unroll_due(dispute: Dispute) -> int | None:
    """The last height to preempt a stale state, or the first one to pay a state out."""
    lineage = dispute.lineage
    unroll = lineage.unroll if lineage is not None else None
    if lineage is None or unroll is None or unroll.spent is not None or lineage.published is None:
        return None
    number, endpoint = lineage.published.number, dispute.endpoint
    theirs = number % 2 != endpoint.side
    stale = theirs and number < dispute.newest.state.number
    return unroll.born + endpoint.channel.unroll_timeout - stale
