"""`channelsim games`."""

from __future__ import annotations

from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console
from channelsim.channel.session.setup import ASK
from channelsim.games import registry
from channelsim.games.rotations import ROTATIONS


def command() -> int:
    """List the games that can be played, with each game's policies and betting structures.

    Example: channelsim games
    """
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
