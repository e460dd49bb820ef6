"""`channelsim dispute list`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.cli.disputes import able_in, menu_of
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say
from channelsim.channel.simulation.scenario import adversaries_for


def command(
    game: Annotated[
        str | None,
        typer.Option(help="Only those that can do something in this game, or in these (A,B)."),
    ] = None,
) -> int:
    """List the adversaries, with what each does.

    Example: channelsim dispute list
    """
    shown = names() if game is None else adversaries_for([menu_of(game)])
    show_table(console(), (), [(name, get(name).about) for name in shown], left=2)
    say(console(), able_in(() if game is None else menu_of(game)))
    return 0
