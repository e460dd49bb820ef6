"""The games that are installed: every package beside this file that has a `GAME`.

Other people's packages join by an entry point in the group `channelsim.games` that names
their game object.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

import games
from games.contract import Game
from games.errors import UnknownGame
from games.names import nearest, quoted


@cache
def names() -> tuple[str, ...]:
    """The names of all installed games, sorted; imports none of them.

    >>> "spacepoker" in names()
    True
    """
    return tuple(sorted({*_built_in(), *(point.name for point in _others())}))


@cache
def get(name: str) -> Game:
    """The game of this name. Raises `UnknownGame`, naming those that there are."""
    game: Game
    if name in _built_in():
        game = import_module(f"games.{name}").GAME
        return game
    for point in _others():
        if point.name == name:
            game = point.load()
            return game
    raise UnknownGame(
        f"no game is called {quoted(name)}{nearest(name, names())}; installed: {', '.join(names())}"
    )


@cache
def _built_in() -> frozenset[str]:
    return frozenset(module.name for module in iter_modules(games.__path__) if module.ispkg)


@cache
def _others() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group="channelsim.games"))
