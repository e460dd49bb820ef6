"""A fault to plant in the honest side's engine, and against whom it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from channelsim.channel.attack.actions import Action
from channelsim.games import registry
from scripts.tools.attack_faults.planting import Planting


@dataclass(frozen=True, slots=True)
class DisputeFault:
    """A fault: the rules or promises that it is `about`, `what` is wrong, and how to plant it.

    It should show against the adversaries `seen_by`, in scenarios with the fields `given`; or in
    attacked sessions, with the actions that `script` has for the number of a run.
    """

    name: str
    about: tuple[str, ...]
    what: str
    plant: Planting
    seen_by: tuple[str, ...]
    given: Mapping[str, Any] = field(default_factory=dict)
    script: Callable[[int], tuple[Action, ...]] | None = None

    @property
    def is_check(self) -> bool:
        """True if it skips a check, so that another check may refuse the same message."""
        return self.name.startswith("unchecked ")


def behaviour(
    name: str, what: str, plant: Planting, broken: tuple[str, ...], **given: Any
) -> DisputeFault:
    """A wrong behaviour: what it does, how it is planted, and the scenarios in which it shows.

    `broken` has the rule or promise that it breaks, and the adversaries against which that shows.
    """
    return DisputeFault(name, broken[:1], what, plant, broken[1:], given)


def in_sessions(
    name: str,
    what: str,
    plant: Planting,
    broken: str,
    script: Callable[[int], tuple[Action, ...]],
    **given: Any,
) -> DisputeFault:
    """A wrong behaviour that shows in attacked sessions with these actions."""
    return DisputeFault(name, (broken,), what, plant, (), given, script)


WITH_DECK = tuple(game.name for game in registry.channel_games() if game.deck_positions)[:1]
"""A game with a deck, in which alone some behaviours show."""
