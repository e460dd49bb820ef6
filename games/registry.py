"""The installed games: every package beside this file with a module `game`, the poker games with a
prepared deck (`channelsim.games.poker.variants`), and those of plug-ins.

Another package registers a game by an entry point in the group `channelsim.games` that names its
`channelsim.games.contract.Game`, and a policy of a game by one in `channelsim.policies`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from channelsim import games
from channelsim.games.contract import Game, Policy, Validator
from channelsim.games.errors import UnknownGame
from channelsim.games.names import DEFAULT as DEFAULT
from channelsim.games.names import nearest, quoted
from channelsim.games.plugin_games import checked, checked_policy, field_problem
from channelsim.games.poker.variants import VARIANTS
from channelsim.plugins import OFF, Group, PluginError, are_off, kind


@cache
def built_in() -> tuple[str, ...]:
    """The names of the games of this package, sorted. Imports none of them.

    >>> "spacepoker" in built_in()
    True
    """
    packages = [
        package.name
        for path in games.__path__
        for package in iter_modules([path])
        if any(module.name == "game" for module in iter_modules([f"{path}/{package.name}"]))
    ]
    return tuple(sorted((*packages, *VARIANTS)))


@cache
def names() -> tuple[str, ...]:
    """The names of all installed games: ours, then those of plug-ins. Imports none of them.

    A plug-in's game may turn out not to load; `usable` leaves such games out.
    """
    return tuple(dict.fromkeys((*built_in(), *_GAMES.names())))


@cache
def get(name: str) -> Game:
    """The game of this name, with the policies of plug-ins. Raises `UnknownGame` with the reason.

    A plug-in that has the name of one of our games does not replace it.
    """
    game = _own(name)
    prefix = f"{name}:"
    others = {
        whole.removeprefix(prefix): policy for whole, policy in _POLICIES.working(prefix).items()
    }
    return replace(game, policies={**game.policies, **others}) if others else game


def asked(name: str) -> Game:
    """The game that a user means. Raises `UnknownGame` also if two packages have one so called."""
    if name in built_in() and name in _GAMES.names():
        try:
            _GAMES.get(name)
        except PluginError as error:
            raise UnknownGame(str(error)) from None
    return get(name)


def usable() -> tuple[Game, ...]:
    """All installed games but those that cannot be loaded, which `plugins.complaints` names."""
    others = _GAMES.working()
    for whole in _POLICIES.names():
        if whole.partition(":")[0] not in names():
            _POLICIES.working(whole)  # no game asks for it: name it among the complaints
    return tuple(get(name) for name in names() if name in built_in() or name in others)


def families() -> tuple[tuple[Game, ...], ...]:
    """The games of this package, those together that share their programs."""
    families: dict[str, list[Game]] = {}
    for name in built_in():
        game = get(name)
        families.setdefault(game.family, []).append(game)
    return tuple(map(tuple, families.values()))


def sharing(game: Game) -> tuple[Game, ...]:
    """The installed games whose programs are this game's (`Game.family`): itself, then the others.

    A plug-in's game is not among those of one of ours.

    >>> [game.name for game in sharing(get("calpoker"))]
    ['calpoker']
    """
    others = map(get, built_in()) if game.name in built_in() else usable()
    return (game, *(o for o in others if o.family == game.family and o.name != game.name))


def validators_of(family: Iterable[Game]) -> dict[str, Validator]:
    """The validators of several games that share them, by name."""
    return {name: validator for game in family for name, validator in game.validators.items()}


def channel_games() -> tuple[Game, ...]:
    """The usable games that a channel can play to the end: those with all programs."""
    return tuple(game for game in usable() if not game.missing)


def reason_without(game: str, policy: str) -> str | None:
    """The reason why a plug-in's policy of a game cannot be used; None if there is no such one."""
    whole = f"{game}:{policy}"
    if whole not in _POLICIES.names():
        return None
    try:
        _POLICIES.get(whole)
    except PluginError as error:
        return str(error)
    return None


def package_of(name: str) -> str:
    """The package of a game, which may hold data files of it; empty for a game that is a module.

    >>> package_of("spacepoker")
    'channelsim.games.spacepoker'
    """
    if name in VARIANTS:
        return "channelsim.games.poker"
    return f"channelsim.games.{name}" if name in built_in() else _GAMES.package_of(name)


def _own(name: str) -> Game:
    """A game as its package has it."""
    if name in built_in():
        game: Game = (
            import_module(f"{package_of(name)}.games").GAMES[name]
            if name in VARIANTS
            else import_module(package_of(name)).GAME
        )
        return game
    if name in _GAMES.names():
        try:
            return _GAMES.get(name)
        except PluginError as error:
            raise UnknownGame(str(error)) from None
    known = names()
    hint = f"{nearest(name, known)}; installed: {', '.join(known)}"
    off = f"; {OFF} turns plug-ins off" if are_off() else ""
    if name.endswith(".toml"):
        hint += "; a file of programs has no players"
    raise UnknownGame(f"no game is called {quoted(name)}{hint}{off}")


def _check_game(name: str, loaded: object) -> Game:
    if not isinstance(loaded, Game):
        raise ValueError(f"it is {kind(loaded)}, not a channelsim.games.contract.Game")
    if loaded.name != name:
        raise ValueError(f"its game is called {quoted(str(loaded.name))}")
    if problem := field_problem(loaded):
        raise ValueError(problem)
    return checked(loaded)


def _check_policy(name: str, loaded: object) -> Policy:
    game = name.partition(":")[0]
    if ":" not in name:
        raise ValueError("its name is not GAME:POLICY")
    if game not in names():
        raise ValueError(f"no game is called {quoted(game)}")
    if not callable(loaded):
        raise ValueError(f"it is {kind(loaded)}, not a function of a player and chance")
    return checked_policy(name, loaded)


def _has_policy(name: str) -> bool:
    game, _, policy = name.partition(":")
    try:
        return policy in _own(game).policies
    except UnknownGame:
        return False


_GAMES = Group("games", "the game", _check_game, lambda name: name in built_in())
_POLICIES = Group("policies", "the policy", _check_policy, _has_policy)
