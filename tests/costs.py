"""Writes the stored costs: ``python -m tests.costs`` writes ``tests/data/costs`` anew.

`channelsim cost GAME --check tests/data/costs/GAME.toml` holds a game to its file. A new version of
the lab may draw other cases; then the files are written again.
"""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.lab.costs import bundles, costs, snapshot
from channelsim.channel.lab.costs.snapshot import Snapshot
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from tests.paths import DATA

FOLDER = DATA / "costs"
CASES, SEED = 100, "costs"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for game in registry.built_in():
        stored_at(game).write_text(snapshot.text(measured(game)), "utf-8")


def stored_at(game: str) -> Path:
    """The file of a game."""
    return FOLDER / f"{game}.toml"


def measured(game: str) -> Snapshot:
    """The costs of a game now."""
    found = costs.measure(of_game(registry.get(game)), CASES, SEED)
    return Snapshot(game, CASES, SEED, found.figures(), bundles.measure(found).costs)


if __name__ == "__main__":
    main()
