"""The overview of a channel in its store, which needs no keys to be read.

It has what both sides know of the newest state; whose turn it is, the coins and what is due follow
from what is sealed.
"""

from __future__ import annotations

import msgspec

from channelsim.channel.peer.play.play_state import PlayState


class GameOverview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A live game: `amount` in mojos, `timeout` in blocks."""

    id: int
    game: str
    amount: int
    timeout: int


class Overview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of the newest state, and of the newest that we can publish.

    `balances` are those outside games, in mojos, the initiator's first.
    """

    newest: int
    completed: int
    balances: tuple[int, int]
    games: tuple[GameOverview, ...]


def encode_overview(play: PlayState) -> bytes:
    """The overview of play."""
    state = play.history.state
    games = tuple(
        GameOverview(game.id, game.terms.game, game.coin.amount, game.coin.timeout)
        for game in state.games
    )
    completed = play.newest.state.number
    return msgspec.msgpack.encode(Overview(state.number, completed, state.balances, games))


def decode_overview(data: bytes) -> Overview:
    """The overview in these bytes. Raises `msgspec.DecodeError`."""
    try:
        return msgspec.msgpack.decode(data, type=Overview)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"the overview is damaged: {error}") from None
