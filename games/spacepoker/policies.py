"""Ways to play Space Poker. A policy knows only what its player knows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from channelsim.games.chance import Chance
from channelsim.games.choices import random_action
from channelsim.games.contract import Action, Amount, Player, Policy
from channelsim.games.spacepoker.player import SpacePokerPlayer

_RARELY = 4
"""The chance that the random player folds when it may, in per cent."""


def caller(player: Player, chance: Chance) -> Action:
    """Checks and calls; never bets, never folds."""
    return Action(player.choices()[0].verb)


def random(player: Player, chance: Chance) -> Action:
    """Any legal action: folds rarely, otherwise every verb and every amount alike."""
    choices = player.choices()
    staying = [choice for choice in choices if choice.verb != "fold"]
    if len(staying) < len(choices) and chance.chance(_RARELY):
        return Action("fold")
    return random_action(chance.pick(staying), chance)


def aggressive(player: Player, chance: Chance) -> Action:
    """Bets and raises three times in four, every third time all-in; otherwise checks or calls."""
    for choice in player.choices():
        if isinstance(choice, Amount) and chance.chance(75):
            all_in = chance.below(3) == 0
            return Action(choice.verb, choice.most if all_in else _units(choice, chance))
    return caller(player, chance)


def folder(player: Player, chance: Chance) -> Action:
    """Folds a weak hand half the time and any other hand one time in sixteen; otherwise calls."""
    may_fold = any(choice.verb == "fold" for choice in player.choices())
    if may_fold and chance.below(2 if _is_weak(player) else 16) == 0:
        return Action("fold")
    return caller(player, chance)


def _units(choice: Amount, chance: Chance) -> int:
    """Whole units, as people bet, unless less than one is left."""
    return min(choice.most, choice.unit * chance.between(1, max(1, choice.most // choice.unit)))


def _is_weak(player: Player) -> bool:
    """No boost, no pair, nothing above a nine in the hole."""
    own = player.cards.own if isinstance(player, SpacePokerPlayer) else None
    return own is not None and not own.boost and len(set(own.hole)) == 2 and max(own.hole) < 10


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {"caller": caller, "random": random, "aggressive": aggressive, "folder": folder}
)
"""The policies by name."""
