"""What one side waits for from the other, and for how many blocks.

Source: the state channel, "The potato": the holder answers a request within the response
time; who owes a move or a settlement gives it within the move time, counted anew each time it
receives the potato, and asks for the potato back within the response time if it returned it
without. Missing a deadline triggers a unilateral close.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from channel.peer.agreement import Times
from channel.peer.play.play_state import PlayState
from channel.protocol.state import Side


@dataclass(frozen=True, slots=True)
class Awaited:
    """Something that is due from the other side: its rule, what, and since which state."""

    rule: str
    what: str
    since: int

    def limit(self, times: Times) -> int:
        """After how many blocks we wait no longer."""
        return (times.move if self.rule == "CH-TIME-2" else times.response) + times.margin


Marks = Mapping[Awaited, int]
"""Since which height each of these is awaited."""


def in_play(play: PlayState, side: Side) -> list[Awaited]:
    """What is due while two peers play."""
    number = play.state.number
    theirs = [game.id for game in play.state.games if game.mover is not side]
    if play.potato:
        if theirs and not play.owed:
            what = f"a request by who owes a move in game {theirs[0]} and gave the potato away"
            return [Awaited("CH-TIME-1", what, number)]
        return []
    due = []
    if play.requested:
        due.append(Awaited("CH-TIME-1", "an answer to our request", number))
    if theirs:
        due.append(Awaited("CH-TIME-2", f"a move in game {theirs[0]}", number))
    return due


def wait(marks: Marks, due: list[Awaited], peak: int, times: Times) -> tuple[Marks, Awaited | None]:
    """The marks after a block, and what has been awaited for too long."""
    # A reorganisation can lower the height: then the wait starts from there.
    after = {one: min(marks.get(one, peak), peak) for one in due}
    late = next((one for one in due if peak - after[one] > one.limit(times)), None)
    return after, late
