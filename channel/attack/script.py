"""The actions of a script as they fall due, by counters that begin again at landmarks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from channelsim.channel.attack.actions import Action, Place
from channelsim.channel.attack.kinds import KINDS, OF_A_SIDE, OF_BOTH, START


class Script:
    """The actions of an attack that have not taken place yet, and the counters that they wait for.

    A counter begins again at each of its landmarks. Each event that is counted has one action at
    most; the others take place at the next ones.
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self.done: list[Action] = []
        self.is_healed = False
        self._counts: defaultdict[tuple[str, int], int] = defaultdict(int)
        # The counts at the last time of each landmark.
        self._begun: defaultdict[tuple[str, int], dict[str, int]] = defaultdict(lambda: {START: 0})
        self._newest: dict[int, str] = {}
        self._waiting: defaultdict[tuple[str, int], list[Action]] = defaultdict(list)
        for action in sorted(actions, key=lambda action: action.at):
            counter = KINDS[action.kind].counter
            self._waiting[counter, 0 if counter in OF_BOTH else action.side].append(action)

    def mark(self, landmark: str, side: int) -> None:
        """Begin the counters of a landmark again: this side's, and those of both."""
        self._newest[side] = landmark
        for place in _counters(side):
            self._begun[place][landmark] = self._counts[place]

    def place(self, side: int) -> Place:
        """The moment that is now for a side, since its newest landmark."""
        since = self._newest.get(side, START)
        numbers = {}
        for place in _counters(side):
            count = self._counts[place]
            numbers[place[0]] = count - self._begun[place].get(since, count)
        return Place(side, since, numbers)

    def next(self, counter: str, side: int = 0) -> Action | None:
        """Count, and take the action that is due."""
        place = counter, side
        count = self._counts[place]
        self._counts[place] = count + 1
        waiting = self._waiting.get(place)
        if not waiting or self.is_healed:
            return None
        begun = self._begun[place]
        for action in waiting:
            if action.since in begun and action.at <= count - begun[action.since]:
                waiting.remove(action)
                self.done.append(action)
                return action
        return None

    def take(self, counter: str, side: int) -> tuple[Action, ...]:
        """Take all actions of a counter, which another part counts: it notes what is done."""
        return tuple(self._waiting.pop((counter, side), ()))


def _counters(side: int) -> list[tuple[str, int]]:
    """The counters of a side, and those of both."""
    return [*((counter, side) for counter in OF_A_SIDE), *((counter, 0) for counter in OF_BOTH)]
