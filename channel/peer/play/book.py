"""Everything that changes while two peers play: one immutable value, replaced as a whole.

That is what makes a batch atomic: it leads to a new book, or the old one stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec

from channel.crypto.keys import SecretKeys
from channel.peer.interface import Command, Effect, GameStarted, Store
from channel.protocol.half_signed import Signed
from channel.protocol.proposals import first_game
from channel.protocol.state import Channel, ChannelState, Group, LiveGame, Side
from channel.protocol.state_history import Past
from channel.protocol.state_records import keep
from games import registry
from games.contract import Hashes, Player
from games.judge import hashes_of


@dataclass(frozen=True)
class Table:
    """What one side plays with, fixed once the channel is funded.

    `entropy` gives the secret bytes of a game by its id: of this side and channel only.
    """

    side: Side
    channel: Channel
    secret_keys: SecretKeys
    confirmations: int
    entropy: Callable[[int], bytes] = field(repr=False)

    @cached_property
    def _hashes(self) -> dict[str, Hashes]:
        return {}

    def hashes(self, game: str) -> Hashes:
        """The tree hashes of a game's programs."""
        if game not in self._hashes:
            self._hashes[game] = hashes_of(registry.get(game))
        return self._hashes[game]

    def new_player(self, game: LiveGame) -> Player:
        """Our seat in a game that has just started."""
        return registry.get(game.terms.game).player(
            game.seat(self.side), game.terms, self.entropy(game.id), self.hashes(game.terms.game)
        )

    def started(self, group: Group) -> list[GameStarted]:
        """The games of an accepted proposal, at their first coins, with our seats in them."""
        games = [first_game(self.channel, group.proposer, offer) for offer in group.offers]
        return [GameStarted(game, self.new_player(game)) for game in games]

    def keep(
        self,
        state: ChannelState,
        signed: Signed | None = None,
        slashes: tuple[tuple[int, bytes], ...] = (),
    ) -> Store:
        """The effect that keeps a state, sent (no `signed`) or received."""
        hashes = {game.terms.game: self.hashes(game.terms.game) for game in state.games}
        kind = "received" if signed else "sent"
        data = keep(self.channel, state, signed=signed, hashes=hashes, slashes=slashes)
        return Store(f"{kind}/{state.number}", data)

    def keep_proposals(self, before: ChannelState, after: ChannelState) -> list[Effect]:
        """The effect that keeps the open proposals, if they have changed.

        They are not in the records of states: a proposal that is refused leaves nothing behind.
        """
        if before.groups == after.groups:
            return []
        return [Store("proposals", msgspec.msgpack.encode(after.groups))]


@dataclass(frozen=True, slots=True)
class Book:
    """The game of messages at one moment, as one side sees it.

    `state` is the newest, sent or received; `newest` the newest that we can complete (F);
    `past` are all of them.
    `queue` are the player's commands that wait for the potato; `requested`: we asked for it,
    `owed`: the other side asked us; `ask_later`: we owe a move, and ask with the next block.
    """

    state: ChannelState
    newest: Signed
    past: Past
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

    def with_player(self, game_id: int, player: Player) -> Book:
        """The book with this seat's new knowledge."""
        others = tuple(pair for pair in self.players if pair[0] != game_id)
        return replace(self, players=(*others, (game_id, player)))

    def only_live(self) -> Book:
        """The book without the players of games that are no more."""
        live = {game.id for game in self.state.games}
        return replace(self, players=tuple(pair for pair in self.players if pair[0] in live))


Out = tuple[Book, list[Effect]]
"""The book after something happened, and what is to be done about it."""
