"""The work of `channelsim new-game`."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.kit.new_game import write_package
from channelsim.channel.report.terminal import console, say
from channelsim.games.amounts import counted


def new_game(name: str, folder: Path | None) -> int:
    """Write the package of a new game: rules in Python and Chialisp, a player, tests, CI."""
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
