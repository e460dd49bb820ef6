"""The work of `channelsim games`."""

from __future__ import annotations

from typing import Any

from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json
from channelsim.channel.session.setup import ASK
from channelsim.channel.system.file_kinds import DOCUMENT
from channelsim.games import registry
from channelsim.games.rotations import ROTATIONS


def list_games(*, json: bool) -> int:
    """List the games that can be played, with each game's policies and betting structures."""
    if json:
        print_json(document())
        return 0
    rows = []
    for game in registry.usable():
        rows.append((game.name, game.title))
        rows.append(("", f"validators: {', '.join(game.validators)}"))
        if game.missing:
            rows.append(("", f"no program: {', '.join(game.missing)}"))
        rows.append(("", f"policies: {', '.join([*game.policies, ASK])}"))
        if game.limits:
            rows.append(("", f"limits: {', '.join(game.limits)}"))
    for rotation in ROTATIONS.values():
        rows.append((rotation.name, rotation.title))
        rows.append(("", f"games: {', '.join(rotation.games)}"))
    show_table(console(), (), rows, left=2)
    return 0


def document() -> dict[str, Any]:
    """The games, and the rotations of games, as JSON data."""
    return {
        "format": f"{DOCUMENT}games 1",
        "games": [
            {
                "name": game.name,
                "title": game.title,
                "validators": list(game.validators),
                "missing": list(game.missing),
                "policies": [*game.policies, ASK],
                "limits": list(game.limits),
            }
            for game in registry.usable()
        ],
        "rotations": [
            {"name": rotation.name, "title": rotation.title, "games": list(rotation.games)}
            for rotation in ROTATIONS.values()
        ],
    }
