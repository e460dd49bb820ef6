"""Ways to play Space Poker. A policy knows only what its player knows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from channelsim.games.betting import aggressive, caller, folder, random
from channelsim.games.chance import Chance
from channelsim.games.contract import Amount, Player, Policy
from channelsim.games.spacepoker.player import SpacePokerPlayer


def _units(choice: Amount, chance: Chance) -> int:
    """Whole units, as people bet, unless less than one is left."""
    return min(choice.most, choice.unit * chance.between(1, max(1, choice.most // choice.unit)))


def _is_weak(player: Player) -> bool:
    """No boost, no pair, nothing above a nine in the hole."""
    own = player.cards.own if isinstance(player, SpacePokerPlayer) else None
    return own is not None and not own.boost and len(set(own.hole)) == 2 and max(own.hole) < 10


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        "caller": caller,
        "random": random,
        "aggressive": aggressive(_units),
        "folder": folder(_is_weak),
    }
)
"""The policies by name."""
