"""The stored costs of every game: complete, small against a block, and those of the programs."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.costs import snapshot
from channelsim.channel.lab.costs.costs import PATHS
from channelsim.clsp.run import MAX_COST
from channelsim.games import registry
from tests.costs import CASES, FOLDER, SEED, measured, stored_at
from tests.paths import ROOT

MOST = MAX_COST // 50
"""No spend of a game coin may cost more than 2 % of a block."""


def test_every_game_has_costs_and_none_is_high() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(registry.built_in())
    for game in registry.built_in():
        stored = snapshot.read(stored_at(game))
        assert (stored.target, stored.cases, stored.seed) == (game, CASES, SEED)
        assert set(stored.validators) == set(registry.get(game).validators)
        for name, paths in stored.validators.items():
            assert {"validator", "slash"} <= set(paths) <= set(PATHS)
            assert all(figures.most < MOST for figures in paths.values())
            assert stored.bundles[f"{name} slash"].total < MOST


def test_the_figures_have_the_whole_cost_of_the_costliest_slashes() -> None:
    """Of the games with a design's costs, and of all: with all bytes and conditions."""
    designed = [game for game in registry.built_in() if registry.get(game).slash_costs]
    assert designed == ["holdem", "omaha"]
    text = " ".join((ROOT / "docs" / "figures.md").read_text("utf-8").split())
    for games in (designed, registry.built_in()):
        whole = {
            (game, name): cost.total
            for game in games
            for name, cost in snapshot.read(stored_at(game)).bundles.items()
            if name.endswith(" slash")
        }
        most = max(whole.values())
        (game, name) = max(whole, key=lambda one: whole[one])
        assert (game, name) in {("omaha", "end slash"), ("chinese", "score slash")}
        assert (
            f"{most / 1e6:.1f} million, {most / MAX_COST:.2%} of a block".replace("%", " %") in text
        )


# Games of the quick tests: together they run every program.
QUICK = {"spacepoker", "calpoker", "five-draw"}


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=[] if game in QUICK else pytest.mark.long)
        for game in registry.built_in()
    ],
)
def test_the_stored_costs_are_those_of_the_programs(game: str) -> None:
    changes = snapshot.compare(snapshot.read(stored_at(game)), measured(game), 0)
    assert changes == snapshot.Changes((), (), (), ()), "python -m tests.costs writes them anew"
