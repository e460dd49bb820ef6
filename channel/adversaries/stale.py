"""It publishes an old state in which it had more, and is otherwise honest."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.events import Block, Effect, Push
from channel.signed import Signed


class Stale(Adversary):
    """Publishes a state that it received long ago; only its own parity it can complete."""

    def pick(self, states: list[Signed]) -> Signed | None:
        """Which of the states that it can complete, oldest first."""
        raise NotImplementedError

    def block(self, block: Block) -> list[Effect]:
        """Publish with the first block from its step on."""
        if self.done or not self.due or not self.completable():
            return []
        picked = self.pick(self.completable())
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
        return states[-2] if len(states) > 1 else None


@register
class Any(Stale):
    """Any state between."""

    name = "stale-any"
    about = "publishes some old state"

    def pick(self, states: list[Signed]) -> Signed | None:
        """One of the old ones."""
        return self.plan.chance.pick(states[:-1]) if len(states) > 1 else None
