"""`channelsim games`."""

from __future__ import annotations

from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console
from channelsim.channel.session.setup import ASK
from channelsim.games import registry


def command() -> int:
    """List the games that can be played, with each game's policies.

    Example: channelsim games
    """
    rows = []
    for game in registry.usable():
        rows.append((game.name, game.title))
        rows.append(("", f"validators: {', '.join(game.validators)}"))
        if game.missing:
            rows.append(("", f"no program: {', '.join(game.missing)}"))
        rows.append(("", f"policies: {', '.join([*game.policies, ASK])}"))
    show_table(console(), (), rows, left=2)
    return 0
