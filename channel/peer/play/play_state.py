"""The state of play between two peers: one immutable value, replaced as a whole.

That makes a batch atomic: either it leads to a new value, or nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from channelsim.channel.peer.decks.pool import DeckPool
from channelsim.channel.peer.interface import Command
from channelsim.channel.peer.limits import stored_bytes
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.messages import Accept, Batch, BatchAction, Cancel, encode
from channelsim.channel.protocol.state import ChannelState, Side
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.games.contract import Player

LOST_DECK = ("PD-9:", "PD-10:")
"""Beginnings of the reason for a cancellation that is due to a deck, and no player's wish."""


class Refusal(msgspec.Struct, frozen=True):
    """The end of a proposal without a game: whose it was, who cancelled it, and the reason.

    `deck_lost`: it named decks, and one of them was the reason.
    """

    proposer: Side
    by: Side
    reason: str
    deck_lost: bool


class PlayState(msgspec.Struct, frozen=True):
    """Off-chain play at one moment, as one side sees it.

    `state` is the newest state, sent or received; `newest` the newest that we can complete (F);
    `history` are all of them. `potato`: we hold it. `decks` are those that no proposal has named.
    `players` are our seats in the live games, by id. `queue` are the player's commands that wait
    for the potato. `we_asked` for the potato, `they_asked` us for it; `ask_later`: we owe a move,
    and ask with the next block. `closing`: the player wants a clean shutdown, or the channel is
    near one of our limits. `refusal` is of the newest proposal that was cancelled, if no game has
    begun since. `stored_bytes` are the bytes that we keep of all states.
    """

    state: ChannelState
    newest: SignedState
    history: StateHistory
    potato: bool
    decks: DeckPool
    players: Mapping[int, Player] = msgspec.field(default_factory=dict)
    queue: tuple[Command, ...] = ()
    we_asked: bool = False
    they_asked: bool = False
    ask_later: bool = False
    closing: bool = False
    refusal: Refusal | None = None
    stored_bytes: int = 0

    def after(
        self,
        sender: Side,
        batch: Batch,
        state: ChannelState,
        signed: SignedState | None,
        players: Mapping[int, Player],
    ) -> PlayState:
        """The state of play after a batch of this side: what is kept of it, sent or received.

        The batch led to `state`, which is `signed` if the other side sent it. `players` are seats,
        new or with new knowledge.
        """
        size = stored_bytes(encode(batch), state.games, self.state.games)
        seats = {**self.players, **players}
        return replace(
            self,
            state=state,
            history=self.history.with_state(state, signed),
            players={game.id: seats[game.id] for game in state.games if game.id in seats},
            refusal=self._refusal_after(sender, batch.actions),
            stored_bytes=self.stored_bytes + size,
        )

    def with_player(self, game_id: int, player: Player) -> PlayState:
        """The state with our seat in a live game, which has learned something."""
        return replace(self, players={**self.players, game_id: player})

    def _refusal_after(self, sender: Side, actions: Iterable[BatchAction]) -> Refusal | None:
        """The refusal to remember after the actions of a batch of this side."""
        refusal = self.refusal
        for action in actions:
            if isinstance(action, Accept):
                refusal = None
            group = self.state.group(action.group_id) if isinstance(action, Cancel) else None
            if isinstance(action, Cancel) and group is not None:
                lost = bool(group.decks()) and action.reason.startswith(LOST_DECK)
                refusal = Refusal(group.proposer, sender, action.reason, lost)
        return refusal
