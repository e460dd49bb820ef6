"""Ways to play that games with betting share. A policy knows only what its player knows."""

from __future__ import annotations

from collections.abc import Callable

from channelsim.games.chance import Chance
from channelsim.games.choices import least_action, random_action
from channelsim.games.contract import Action, Amount, Player, Policy

_RARELY = 4
"""The chance that the random player folds when it may, in per cent."""


def caller(player: Player, chance: Chance) -> Action:
    """Checks, calls and shows; never bets, never folds."""
    return least_action(player.choices()[0])


def random(player: Player, chance: Chance) -> Action:
    """Any legal action: folds rarely, otherwise every verb and every amount alike."""
    choices = player.choices()
    staying = [choice for choice in choices if choice.verb != "fold"]
    if len(staying) < len(choices) and chance.chance(_RARELY):
        return Action("fold")
    return random_action(chance.pick(staying), chance)


def aggressive(size: Callable[[Amount, Chance], int]) -> Policy:
    """Bets and raises three times in four, every third time all it may; otherwise stays.

    `size` is the amount of a usual bet or raise.
    """

    def policy(player: Player, chance: Chance) -> Action:
        for choice in player.choices():
            if isinstance(choice, Amount) and chance.chance(75):
                most = chance.below(3) == 0
                return Action(choice.verb, choice.most if most else size(choice, chance))
        return caller(player, chance)

    return policy


def folder(is_weak: Callable[[Player], bool]) -> Policy:
    """Folds a weak hand half the time and any other hand one time in sixteen; otherwise stays.

    At the showdown it shows no hand that loses.
    """

    def policy(player: Player, chance: Chance) -> Action:
        verbs = [choice.verb for choice in player.choices()]
        if "muck" in verbs:
            return Action("muck")
        if "fold" in verbs and chance.below(2 if is_weak(player) else 16) == 0:
            return Action("fold")
        return caller(player, chance)

    return policy
