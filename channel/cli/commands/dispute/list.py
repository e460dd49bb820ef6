"""`channelsim dispute list`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.options import text


def command(
    game: Annotated[
        str | None,
        text("Only those that can do something in this game, or in these (A,B)."),
    ] = None,
) -> int:
    """List the adversaries, with what each does.

    Example: channelsim dispute list
    """
    from channelsim.channel.adversaries.registry import get, names
    from channelsim.channel.cli.disputes import able_in, menu_of
    from channelsim.channel.report.tables import show_table
    from channelsim.channel.report.terminal import console, say
    from channelsim.channel.simulation.scenario import adversaries_for
    from channelsim.games.amounts import counted

    games = () if game is None else menu_of(game)
    shown = adversaries_for([games]) if games else names()
    show_table(console(), (), [(name, get(name).about) for name in shown], left=2)
    for line in able_in(games) if games else [counted(len(shown), "adversary")]:
        say(console(), line)
    return 0
