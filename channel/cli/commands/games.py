"""`channelsim games`."""

from __future__ import annotations

from channelsim.channel.cli.options import Json


def command(json: Json = False) -> int:
    """List the games that can be played, with each game's policies and betting structures.

    Example: channelsim games
    """
    from channelsim.channel.cli.work.games import list_games

    return list_games(json=json)
