"""The state of play between two peers: one immutable value, replaced as a whole.

That makes a batch atomic: either it leads to a new value, or nothing changes.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from channelsim.channel.peer.decks.pool import DeckPool
from channelsim.channel.peer.interface import Command
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.games.contract import Player


class PlayState(msgspec.Struct, frozen=True):
    """Off-chain play at one moment, as one side sees it.

    `state` is the newest state, sent or received; `newest` the newest that we can complete (F);
    `history` are all of them. `potato`: we hold it. `decks` are those that no proposal has named.
    `players` are our seats in the live games. `queue` are the player's commands that wait for the
    potato. `we_asked` for the potato, `they_asked` us for it; `ask_later`: we owe a move, and ask
    with the next block. `closing`: the player wants a clean shutdown, or the channel is near one of
    our limits. `stored_bytes` are the bytes that we keep of all states.
    """

    state: ChannelState
    newest: SignedState
    history: StateHistory
    potato: bool
    decks: DeckPool
    players: tuple[tuple[int, Player], ...] = ()
    queue: tuple[Command, ...] = ()
    we_asked: bool = False
    they_asked: bool = False
    ask_later: bool = False
    closing: bool = False
    stored_bytes: int = 0

    def player(self, game_id: int) -> Player | None:
        """Our seat in a live game."""
        return next((player for known, player in self.players if known == game_id), None)

    def with_player(self, game_id: int, player: Player) -> PlayState:
        """The state with a new seat, or with new knowledge in our seat."""
        others = tuple(pair for pair in self.players if pair[0] != game_id)
        return replace(self, players=(*others, (game_id, player)))

    def only_live(self) -> PlayState:
        """The state without the seats of games that have ended."""
        live = {game.id for game in self.state.games}
        return replace(self, players=tuple(pair for pair in self.players if pair[0] in live))
