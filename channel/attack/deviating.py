"""Find a dispute like another one in which the adversary does what it is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from channelsim.channel.adversaries.registry import get
from channelsim.channel.attack.disputes import dispute_script, play
from channelsim.channel.crypto import bls
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.terms import TOGETHER
from channelsim.games import registry

HANDS = 4
"""Enough for either side to have proposed and accepted a hand, most likely."""

SEEDS = 2
"""The seeds that are tried with each change: that of the scenario first."""


def deviating(scenario: Scenario) -> Scenario | None:
    """A scenario near this one in which the adversary deviates; None if none of a few is one.

    Its fields are those that `dispute run` has options for, or `play`.
    """
    with bls.remembered():
        for number in range(SEEDS):
            for changes in _changes(scenario):
                seed = f"{scenario.seed}-{number}" if number else scenario.seed
                near = replace(_plain(scenario), seed=seed, **changes)
                if near != scenario and play(dispute_script(near)).run.deviated:
                    return near
    return None


def _plain(scenario: Scenario) -> Scenario:
    """The scenario without what no option of `dispute run` says."""
    return Scenario(
        scenario.games,
        scenario.seed,
        scenario.adversary,
        scenario.step,
        scenario.side,
        scenario.weather,
        hands=scenario.hands,
        mixed=scenario.mixed,
    )


def _changes(scenario: Scenario) -> Iterator[Mapping[str, Any]]:
    """Changes of a scenario, the smallest ones first."""
    step = {"step": get(scenario.adversary).default_step}
    more = {"hands": max(HANDS, scenario.hands)}
    other = {"side": 1 - scenario.side}
    dealt = [game for game in registry.channel_games() if game.deck_positions]
    decks = [{"games": (min(dealt, key=lambda game: game.deck_positions).name,)}] if dealt else []
    menus: list[dict[str, Any]] = [{}, *decks, {"games": (registry.DEFAULT,)}]
    for menu in menus:
        for weather in ({}, {"weather": "reconnects"}):
            yield {**step, **menu, **weather}
            yield {**step, **menu, **weather, **more}
            yield {**step, **menu, **weather, **other}
            yield {**step, **menu, **weather, **more, **other}
    # Balances that do not cover all hands; `play` has the adversary as the receiver.
    both = tuple(game.name for game in registry.channel_games())[:2]
    tight = TOGETHER.unit * TOGETHER.stack * len(both)
    yield {
        **step,
        **more,
        "games": both,
        "side": 1,
        "terms": structs.replace(TOGETHER, balance=tight),
    }
