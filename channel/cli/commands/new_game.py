"""`channelsim new-game`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import argument, file_argument


def command(
    name: Annotated[str, argument("The name of the game and of its package.")],
    folder: Annotated[
        Path | None, file_argument("The folder to make (NAME, in the current one).")
    ] = None,
) -> int:
    """Write the package of a new game: rules in Python and Chialisp, a player, tests, CI.

    The package works as written: two players commit and reveal. Change it into your game.

    Example: channelsim new-game dice
    """
    from pathlib import Path

    from channelsim.channel.kit.new_game import write_package
    from channelsim.channel.report.terminal import console, say
    from channelsim.games.amounts import counted

    place = Path(name) if folder is None else folder
    files = write_package(name, place)
    out = console()
    for path in files:
        say(out, str(place / path))
    say(out, f"{counted(len(files), 'file')}; next:")
    say(out, f"  pip install -e '{place}[test]'")
    say(out, f"  pytest {place}")
    say(out, f"  channelsim conform {name}")
    return 0
