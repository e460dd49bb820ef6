"""`channelsim new-game`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.options import file_argument


def command(
    name: Annotated[str, typer.Argument(help="The name of the game and of its package.")],
    folder: Annotated[
        Path | None, file_argument("The folder to make (NAME, in the current one).")
    ] = None,
) -> int:
    """Write the package of a new game: rules in Python and Chialisp, a player, tests, CI.

    The package works as written: two players commit and reveal. Change it into your game.

    Example: channelsim new-game dice
    """
    from channelsim.channel.cli.work.new_game import new_game

    return new_game(name, folder)
