"""The installed games: every package beside this file that has a `GAME`.

Other packages register a game by an entry point in the group `channelsim.games` that names their
`channelsim.games.contract.Game`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules

from channelsim import games
from channelsim.games.contract import Game
from channelsim.games.errors import UnknownGame
from channelsim.games.names import nearest, quoted


@cache
def names() -> tuple[str, ...]:
    """The names of all installed games, sorted. Imports none of them.

    >>> "spacepoker" in names()
    True
    """
    return tuple(sorted({*_built_in(), *(point.name for point in _others())}))


@cache
def get(name: str) -> Game:
    """The game of this name. Raises `UnknownGame`, listing the installed ones."""
    game: Game
    if name in _built_in():
        game = import_module(f"channelsim.games.{name}").GAME
        return game
    for point in _others():
        if point.name == name:
            game = point.load()
            return game
    raise UnknownGame(
        f"no game is called {quoted(name)}{nearest(name, names())}; installed: {', '.join(names())}"
    )


def package_of(name: str) -> str:
    """The package of a game, which may hold data files of it.

    >>> package_of("spacepoker")
    'channelsim.games.spacepoker'
    """
    modules = [point.module for point in _others() if point.name == name]
    module = f"channelsim.games.{name}" if name in _built_in() or not modules else modules[0]
    spec = find_spec(module)
    return (spec and spec.parent) or ""


@cache
def _built_in() -> frozenset[str]:
    folders = [
        f"{path}/{module.name}" for path in games.__path__ for module in iter_modules([path])
    ]
    return frozenset(
        folder.rpartition("/")[2]
        for folder in folders
        if any(module.name == "game" for module in iter_modules([folder]))
    )


@cache
def _others() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group="channelsim.games"))
