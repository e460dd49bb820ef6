"""The poker games as the engine sees them: one for each row of `variants`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType

from channelsim.games.contract import Carry, Game, Seat
from channelsim.games.poker import actions, arranging, validators
from channelsim.games.poker.checks import checks
from channelsim.games.poker.comparisons import pack, showdown
from channelsim.games.poker.lemmas import lemmas
from channelsim.games.poker.player import entropy_size, new_player
from channelsim.games.poker.policies import policies_of
from channelsim.games.poker.result import parts, street, summarize
from channelsim.games.poker.rules import RULES
from channelsim.games.poker.story import PokerStory
from channelsim.games.poker.terms import (
    carried,
    default_parameters,
    initial,
    limits,
    read_terms,
    variations,
    with_carry,
)
from channelsim.games.poker.variants import VARIANTS, Variant

FAMILY = "poker"

CARRY = Carry(carried, with_carry)
"""Antes of hands that were passed out go on to the next hand with bets."""

SLASH_COSTS: Mapping[str, Mapping[str, int]] = {
    "holdem": {"deal": 37_100_000, "begin": 52_100_000, "mid": 53_800_000},
    "omaha": {"deal": 46_100_000, "begin": 61_200_000, "mid": 63_000_000},
}
"""The costliest slashes of the prototype by which the validators were designed."""

ALL = {**validators.VALIDATORS, **arranging.VALIDATORS}
"""The validators of all games, by name."""


def moves(variant: Variant) -> tuple[str, ...]:
    """The validators that a game uses, in the order of play."""
    if variant.arranges:
        return ("deal", "commit", "rows", "score")
    draw = ("draw",) if variant.draws else ()
    return ("deal", "begin", "mid", *draw, "show", "end")


def _concerns(rule: str, names: Iterable[str]) -> bool:
    """True if a rule is about the terms, or of one of these validators."""
    return rule.split("-")[1].lower() in ("terms", *names)


def game(variant: Variant) -> Game:
    """The game of a row."""
    judges = {name: ALL[name] for name in moves(variant)}
    return Game(
        name=variant.name,
        title=variant.title,
        family=FAMILY,
        validators=judges,
        rules={rule: RULES[rule] for rule in RULES if _concerns(rule, judges)},
        terms=partial(read_terms, variant),
        initial=partial(initial, variant),
        player=partial(new_player, variant),
        entropy_size=entropy_size(variant),
        deck_positions=variant.positions,
        default_parameters=partial(default_parameters, variant),
        limits=limits(variant),
        button=Seat.ALICE if variant.opener_has_button else Seat.BOB,
        carry=None if variant.arranges else CARRY,
        variations=variations(variant),
        read_action=actions.read,
        policies=policies_of(variant),
        story=PokerStory(),
        summary=summarize,
        parts=parts(variant),
        part=partial(street, variant),
        slash_costs=SLASH_COSTS.get(variant.name, {}),
        showdown=None if variant.arranges else showdown,
        pack=pack(variant),
        lemmas=lemmas(variant),
        checks=checks(variant),
    )


GAMES: Mapping[str, Game] = MappingProxyType({name: game(row) for name, row in VARIANTS.items()})
"""The games by name, as the registry finds them."""
