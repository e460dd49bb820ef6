"""It publishes an old state in which it had more, and is otherwise honest."""

from __future__ import annotations

from abc import ABC, abstractmethod

from channel.adversaries.base import Adversary, register
from channel.peer.interface import Effect, Push
from channel.protocol.half_signed import Signed


class Stale(Adversary, ABC):
    """Publishes a state that it received long ago; only its own parity it can complete."""

    @abstractmethod
    def pick(self, states: list[Signed]) -> Signed | None:
        """Which of the states that it can complete, oldest first; there are at least two."""

    def act(self) -> list[Effect]:
        """Publish, once."""
        states = self.completable()
        if self.done or len(states) < 2:
            return []
        picked = self.pick(states)
        if picked is None:
            return []
        self.done = True
        return [Push("stale", self.publishes(picked))]


@register
class Oldest(Stale):
    """The state of the opening."""

    name = "stale-oldest"
    about = "publishes the first state of all, in which both had what they put in"

    def pick(self, states: list[Signed]) -> Signed | None:
        """The first."""
        return states[0]


@register
class Previous(Stale):
    """The newest but one: what it has just been answered to never was."""

    name = "stale-previous"
    about = "publishes the newest state but one"

    def pick(self, states: list[Signed]) -> Signed | None:
        """The last but one."""
        return states[-2]


@register
class Any(Stale):
    """Any state between."""

    name = "stale-any"
    about = "publishes some old state"

    def pick(self, states: list[Signed]) -> Signed | None:
        """One of the old ones."""
        return self.plan.chance.pick(states[:-1])


@register
class Richest(Stale):
    """The state that pays it most, whichever that is."""

    name = "stale-richest"
    about = "publishes the old state in which its balance was highest"

    def pick(self, states: list[Signed]) -> Signed | None:
        """The one with the most outside of games; of several the newest."""
        side = self.peer.config.side
        return max(
            states[:-1],
            key=lambda signed: (signed.state.balances[side], signed.state.number),
        )


@register
class EarlierHand(Stale):
    """A hand is over, and it would rather play it again."""

    name = "stale-hand"
    about = "publishes a state of a hand that is over"

    def pick(self, states: list[Signed]) -> Signed | None:
        """One with a game that is not live any more."""
        live = {game.id for game in self.peer.play.state.games}
        over = [
            signed
            for signed in states[:-1]
            if any(game.id not in live for game in signed.state.games)
        ]
        return self.plan.chance.pick(over) if over else None
