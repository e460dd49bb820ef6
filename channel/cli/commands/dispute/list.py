"""`channelsim dispute list`."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    game: Annotated[
        str | None,
        typer.Option(help="Only those that can do something in this game, or in these (A,B)."),
    ] = None,
) -> int:
    """List the adversaries, with what each does.

    Example: channelsim dispute list
    """
    from channelsim.channel.cli.work.dispute_list import list_adversaries

    return list_adversaries(game)
