"""That the benchmark measures what it says, not how fast this machine is."""

from __future__ import annotations

import pytest

from channel import bench
from channel.bench import measure
from games import registry


def test_every_figure_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "MIX", 8)
    figures = measure(seconds=0.2)
    assert figures["signed_hand_ratio_to_floor"] > 0
    hand = figures["signed_hand"]["spacepoker"]
    # Both halves of each batch are signed once and checked once.
    assert hand["signatures_per_hand"] == hand["verifications_per_hand"] > 20
    assert figures["disputed_hand_ratio_to_floor"] > 1
    for disputed in figures["disputed_hand"].values():
        # The node checks each bundle more than once: no floor with each check once is above it.
        assert disputed["ratio_to_bare_calls"]["median"] > disputed["ratio"]["median"] > 1
        assert disputed["bundles_per_hand"] >= 3
        assert disputed["signatures_per_hand"] >= 1
        assert disputed["judgings_per_hand"] >= 1
    names = {name for game in registry.names() for name in registry.get(game).validators}
    assert names <= figures["python_ratio_to_clvm"].keys()
    assert all(ratio > 0 for ratio in figures["python_ratio_to_clvm"].values())
    assert 0 < figures["crosscheck_ratio_to_clvm"] < 1.5
    assert figures["crosscheck"].keys() == set(registry.names())
    assert figures["best_of_seven_per_second"] > 0
    assert figures["import_channel_seconds"] >= 0
