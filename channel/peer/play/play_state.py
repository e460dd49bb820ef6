"""Everything that changes while two peers play: one immutable value, replaced as a whole.

That makes a batch atomic: either it leads to a new value, or nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from channel.peer.interface import Command, Effect
from channel.protocol.half_signed import SignedState
from channel.protocol.state import ChannelState
from channel.protocol.state_history import StateHistory
from games.contract import Player


@dataclass(frozen=True, slots=True)
class PlayState:
    """The game of messages at one moment, as one side sees it.

    `state` is the newest, sent or received; `newest` the newest that we can complete (F);
    `history` are all of them.
    `queue` are the player's commands that wait for the potato; `requested`: we asked for it,
    `owed`: the other side asked us; `ask_later`: we owe a move, and ask with the next block.
    """

    state: ChannelState
    newest: SignedState
    history: StateHistory
    potato: bool
    players: tuple[tuple[int, Player], ...] = ()
    queue: tuple[Command, ...] = ()
    requested: bool = False
    owed: bool = False
    ask_later: bool = False
    closing: bool = False

    def player(self, game_id: int) -> Player | None:
        """Our seat in a live game."""
        return next((player for known, player in self.players if known == game_id), None)

    def with_player(self, game_id: int, player: Player) -> PlayState:
        """The play with this seat's new knowledge."""
        others = tuple(pair for pair in self.players if pair[0] != game_id)
        return replace(self, players=(*others, (game_id, player)))

    def only_live(self) -> PlayState:
        """The play without the players of games that are no more."""
        live = {game.id for game in self.state.games}
        return replace(self, players=tuple(pair for pair in self.players if pair[0] in live))


Out = tuple[PlayState, list[Effect]]
"""The play after something happened, and what is to be done about it."""
