"""Deadlines of the other side: the actions that are due, and the blocks that we wait.

Source: spec/channel.md, "The potato": the holder answers a request within the response
time. The mover of a game sends a move or a settlement within the move time, counted again each
time it receives the potato; if it gives the potato away without one, it asks for it back within the
response time. Missing a deadline triggers a unilateral close.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.state import Side


class Awaited(msgspec.Struct, frozen=True):
    """An answer that is due from the other side since a state of this number, by this rule."""

    rule: str
    what: str
    since: int

    def limit(self, times: Times) -> int:
        """The number of blocks that we wait."""
        return (times.move if self.rule == "CH-TIME-2" else times.response) + times.margin


Marks = Mapping[Awaited, int]
"""The heights since which we wait, by what we wait for."""


def in_play(play: PlayState, side: Side, *, wanted: bool = False) -> list[Awaited]:
    """List the actions that are due from the other side during play.

    `wanted`: we want the potato, and have asked for it unless a new connection keeps us from it.
    That we ask later then gives the other side no more time.
    """
    number = play.state.number
    theirs = [game.id for game in play.state.games if game.mover is not side]
    if play.potato:
        if theirs and not play.they_asked:
            what = f"a request by the mover of game {theirs[0]}, who gave the potato away"
            return [Awaited("CH-TIME-1", what, number)]
        return []
    due = []
    if wanted or play.we_asked:
        due.append(Awaited("CH-TIME-1", "an answer to our request", number))
    if theirs:
        due.append(Awaited("CH-TIME-2", f"a move in game {theirs[0]}", number))
    return due


def wait(marks: Marks, due: list[Awaited], peak: int, times: Times) -> tuple[Marks, Awaited | None]:
    """Update the marks with a block; also return an answer that is late, if there is one."""
    # A reorganisation can lower the height: then we wait from there.
    after = {one: min(marks.get(one, peak), peak) for one in due}
    late = next((one for one in due if peak - after[one] > one.limit(times)), None)
    return after, late
