"""The poker games as the engine sees them: one for each row of `variants`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from channelsim.games.contract import Game
from channelsim.games.poker import actions
from channelsim.games.poker.player import entropy_size, new_player
from channelsim.games.poker.policies import POLICIES
from channelsim.games.poker.result import parts, street
from channelsim.games.poker.rules import RULES
from channelsim.games.poker.story import PokerStory
from channelsim.games.poker.summary import summarize
from channelsim.games.poker.terms import default_parameters, initial, read_terms
from channelsim.games.poker.validators import VALIDATORS
from channelsim.games.poker.variants import VARIANTS, Variant

FAMILY = "poker"


def game(variant: Variant) -> Game:
    """The game of a row."""
    return Game(
        name=variant.name,
        title=variant.title,
        family=FAMILY,
        validators=VALIDATORS,
        rules=RULES,
        terms=partial(read_terms, variant),
        initial=partial(initial, variant),
        player=partial(new_player, variant),
        entropy_size=entropy_size(variant),
        deck_positions=variant.positions,
        default_parameters=partial(default_parameters, variant),
        read_action=actions.read,
        policies=POLICIES,
        story=PokerStory(),
        summary=summarize,
        parts=parts(variant),
        part=partial(street, variant),
    )


GAMES: Mapping[str, Game] = MappingProxyType({name: game(row) for name, row in VARIANTS.items()})
"""The games by name, as the registry finds them."""
