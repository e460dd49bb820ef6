"""The game that a dealer names for the next hand, with its betting structure if it wants one."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.errors import UsageError
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.names import nearest, printable


@dataclass(frozen=True, slots=True)
class Pick:
    """A game and a betting structure by name; without one, the game's usual structure."""

    game: str
    limit: str | None = None


def any_pick(games: tuple[str, ...], chance: Chance) -> Pick:
    """Any of these games, with any of its betting structures."""
    game = chance.pick(games)
    limits = tuple(registry.get(game).limits)
    return Pick(game, chance.pick(limits) if limits else None)


def read_pick(games: tuple[str, ...], text: str, where: str) -> Pick:
    """Read the name of a game, and after it that of a betting structure if one is wanted.

    Raises `UsageError`, which begins with `where`.
    """
    game, _, limit = " ".join(text.split()).partition(" ")
    shown = repr(printable(game[:40]))
    if game not in games:
        known = ", ".join(games)
        raise UsageError(f"{where}: {shown} is not on the list{nearest(game, games)}: {known}")
    limits = registry.get(game).limits
    if limit and limit not in limits:
        has = f"the limits {', '.join(limits)}" if limits else "no choice of a limit"
        raise UsageError(f"{where}: {game} has {has}, not {printable(limit[:40])!r}")
    return Pick(game, limit or None)
