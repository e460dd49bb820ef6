"""Whether what a player was told is so: how its games and its channel ended, and for how much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    GameEnded,
    GameVoid,
    LeftForChain,
    Undone,
    UnilateralClose,
)
from channel.peer.interface import BrokenOff, GameSettled, GameStarted, News
from games.amounts import counted

FINAL = ChannelClosed | ChannelSettled | GameEnded
"""What is told only once it is as deep as this player wants it."""


def standing(news: Iterable[News]) -> list[News]:
    """What was told and not taken back, in order."""
    found: list[News] = []
    for one in news:
        if isinstance(one, Undone):
            found.remove(one.fact)
        else:
            found.append(one)
    return found


def untrue(news: Sequence[News], got: int, put_in: int) -> Iterator[str]:
    """What is wrong with this news of a player that put so many mojos into its channel, and got
    so many out of it."""
    for one in news:
        if isinstance(one, Undone) and isinstance(one.fact, FINAL):
            yield f"what was final was taken back: {type(one.fact).__name__}"
    told = standing(news)
    yield from _games(told)
    if any(isinstance(one, ChannelClosed) for one in told):
        staked = [
            one.game.terms.stakes[one.player.seat] for one in told if isinstance(one, GameStarted)
        ]
        won = [one.ours for one in told if isinstance(one, GameSettled)]
        if len(staked) == len(won) and put_in - sum(staked) + sum(won) != got:
            took = counted(sum(staked), "mojo")
            yield f"its games took {took} and paid {sum(won)}: {put_in} became {got}"
    for settled in told:
        if isinstance(settled, ChannelSettled) and settled.ours != got:
            yield f"settled at {counted(settled.ours, 'mojo')}, and there are {got}"
    if (
        len([one for one in told if isinstance(one, BrokenOff | LeftForChain | UnilateralClose)])
        > 1
    ):
        yield "went on chain more than once"


def _games(told: Sequence[News]) -> Iterator[str]:
    """Each game that began ended once, and no other."""
    ends: dict[int, int] = defaultdict(int)
    begun: set[int] = set()
    for one in told:
        match one:
            case GameStarted(game, _):
                begun.add(game.id)
            case GameSettled(game_id) | GameVoid(game_id):
                ends[game_id] += 1
            case GameEnded(game_id, corrects=False):
                ends[game_id] += 1
            case _:
                pass
    if any(count > 1 for count in ends.values()):
        yield f"games ended more than once: {dict(ends)}"
    over = any(isinstance(one, ChannelClosed | ChannelSettled) for one in told)
    if over and begun != set(ends):
        yield f"games {sorted(begun)} began, and {sorted(ends)} ended"
