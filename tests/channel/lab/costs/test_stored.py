"""The stored costs of every game: complete, small against a block, and those of the programs."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.costs import snapshot
from channelsim.channel.lab.costs.costs import PATHS
from channelsim.clsp.run import MAX_COST
from channelsim.games import registry
from tests.costs import CASES, FOLDER, SEED, measured, stored_at

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


@pytest.mark.parametrize("game", registry.built_in())
def test_the_stored_costs_are_those_of_the_programs(game: str) -> None:
    changes = snapshot.compare(snapshot.read(stored_at(game)), measured(game), 0)
    assert changes == snapshot.Changes((), (), (), ()), "python -m tests.costs writes them anew"
