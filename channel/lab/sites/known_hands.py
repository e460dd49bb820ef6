"""Hands that are remembered for what their states showed, to be played again with a change.

A hand is kept for a fact that few hands have shown, and for the number of a state that it drove
further than any other did: a next hand that begins like it may come further still.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.state_facts import StateFacts, numbers_at, numbers_of
from channelsim.clsp.values import Value
from channelsim.games.contract import Next, Play

H = TypeVar("H")

Goal: TypeAlias = tuple[str, str, int]
"""A validator, the place of a number in its states, and 1 to make it greater, or -1 less."""

NEW_HAND = 0.1
"""The share of hands that do not begin like another one."""

DRIVEN = 0.5
"""The share of hands that are to drive one number further."""

RECENT = 8
"""The latest goals that were driven further, which are tried as often as all the others."""

AMONG = 6
"""The facts among which the one that was seen least often decides which hand is played again."""

LATEST = 8
"""The first hands that show a fact, of which the latest is played again."""

FULLY, BRIEFLY = 24, 4
"""Cases at a place with a new fact, and at one with a new combination."""


class KnownHands(Generic[H]):
    """Hands by the facts of their states, each with the number of the move that shows the fact."""

    def __init__(self, chance: FastChance) -> None:
        self._chance = chance
        self._facts = StateFacts()
        self._seen: dict[int, int] = {}
        self._known: list[int] = []
        self._shown_by: dict[int, tuple[H, int]] = {}
        self._goals: list[Goal] = []
        self._recent: deque[Goal] = deque(maxlen=RECENT)
        self._furthest: dict[Goal, tuple[int, H, int]] = {}

    def next_goal(self) -> Goal | None:
        """The number to drive further in the next hand; None for a hand without a goal."""
        chance = self._chance
        if not self._goals or chance.random() > DRIVEN:
            return None
        recently = bool(self._recent) and chance.random() < 0.5
        return chance.pick(self._recent if recently else self._goals)

    def pick(self, goal: Goal | None) -> tuple[H, int] | None:
        """The hand that came furthest to a goal, or one that shows a rare fact; sometimes None, for
        a new hand."""
        chance = self._chance
        if not self._known or chance.random() < NEW_HAND:
            return None
        if goal is not None:
            _, hand, at = self._furthest[goal]
            return hand, at
        few = (chance.pick(self._known) for _ in range(AMONG))
        return self._shown_by[min(few, key=self._seen.__getitem__)]

    def learn(self, hand: H, at: int, validator: str, state: Value, amount: int, play: Play) -> int:
        """Note the facts of one place of a hand; the number of cases that new ones are worth."""
        numbers = numbers_at(state, play.move, at)
        self._measure(hand, at, validator, numbers)
        facts, pairs = self._facts.of(validator, numbers, amount, play.share)
        seen, cases = self._seen, 0
        for some, worth in ((pairs, BRIEFLY), (facts, FULLY)):
            for fact in some:
                times = seen.get(fact, 0)
                seen[fact] = times + 1
                if times < LATEST:
                    self._shown_by[fact] = hand, at
                if not times:
                    self._known.append(fact)
                    cases = worth
        return cases

    def _measure(
        self, hand: H, at: int, validator: str, numbers: Sequence[tuple[str, int]]
    ) -> None:
        """Remember the hand for each number that is no less far than in any other; the newest."""
        for place, number in numbers:
            for goal in ((validator, place, 1), (validator, place, -1)):
                if goal not in self._furthest:
                    self._goals.append(goal)
                    self._furthest[goal] = number, hand, at
                further = goal[2] * (number - self._furthest[goal][0])
                if further > 0:
                    self._recent.append(goal)
                if further >= 0:
                    self._furthest[goal] = number, hand, at


def how_far(goal: Goal, step: Next | None) -> tuple[bool, int]:
    """A key by which the move that comes furthest to a goal is the greatest; least at the end of a
    hand."""
    if step is None:
        return False, 0
    validator, place, sign = goal
    numbers = dict(numbers_of(step.state.value())) if step.validator == validator else {}
    return True, sign * numbers.get(place, 0)
