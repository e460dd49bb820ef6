"""Deadlines of a peer: heights at which something ends or begins for it.

Source: spec/channel.md, "Opening", "The potato" and "Going on chain".
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from channelsim.channel.peer.machine import Peer


class Deadline(Enum):
    """Kinds of deadlines."""

    FUNDING = "the funding"
    FAILED_OPENING = "the end of a failed opening"
    DEPTH = "the depth of the channel coin"
    RESPONSE = "the response time"
    MOVE = "the move time"
    UNROLL = "the unroll timeout"
    GAME = "a game's timeout"
    REVEAL = "the wait of a move that reveals"
    PAYOUT = "the depth of a payout"
    END = "the end of the channel"


def deadlines(peer: Peer) -> Iterator[tuple[int, Deadline]]:
    """The heights of a peer's deadlines as of its newest block, with their kinds.

    A wait that ends after a height has both that height and the next one.
    """
    state, agreement = peer.state, peer.config.agreement
    depth = agreement.confirmations
    if state.opening.deadline:
        yield state.opening.deadline, Deadline.FUNDING
        yield state.opening.deadline + agreement.spacing * depth, Deadline.FAILED_OPENING
    channel = state.opening.channel
    for seen in state.block.coins:
        if channel is not None and seen.coin == channel.coin:
            yield seen.born + depth, Deadline.DEPTH
            if seen.spent is not None:
                yield seen.spent + depth, Deadline.END
    for awaited, since in state.marks.items():
        kind = Deadline.MOVE if awaited.rule == "CH-TIME-2" else Deadline.RESPONSE
        limit = since + awaited.limit(agreement.times)
        yield from ((limit, kind), (limit + 1, kind))
    lineage = state.dispute.lineage if state.dispute is not None else None
    if lineage is None:
        return
    if lineage.unroll is not None:
        yield lineage.unroll.born + agreement.unroll_timeout, Deadline.UNROLL
    for track in lineage.tracks:
        tip = track.tip_seen
        if tip is None:
            continue
        if tip.spent is not None:
            yield tip.spent + depth, Deadline.PAYOUT
            continue
        yield tip.born + depth, Deadline.REVEAL
        yield tip.born + track.tip.game.coin.timeout, Deadline.GAME
