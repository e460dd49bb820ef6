"""The games of all signed states: which move we made at which coin, and where we settled.

So a move is made again byte for byte, and a game of an old state is played on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.protocol.spend_parsing import channel_conditions, pays, unroll_number
from channelsim.channel.protocol.state import ChannelState, LiveGame
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.protocol.unroll import paid_number
from channelsim.games.contract import Player
from channelsim.games.players import player_after
from channelsim.games.referee import GameCoin


@dataclass(frozen=True, slots=True)
class SignedGames:
    """An index of all states that we signed, made once, when the channel goes on chain."""

    endpoint: Endpoint
    history: StateHistory
    _next: dict[GameCoin, LiveGame]
    _last: dict[int, LiveGame]
    # Answers given before, which make no difference between two indexes.
    _read: dict[tuple[bytes, bytes], ChannelState | None] = field(compare=False)
    _void: dict[int, tuple[int, ...]] = field(compare=False)
    _unrolls: dict[bytes, ChannelState] = field(compare=False)

    @classmethod
    def of(cls, endpoint: Endpoint, history: StateHistory) -> SignedGames:
        """Index these states."""
        following: dict[GameCoin, LiveGame] = {}
        last: dict[int, LiveGame] = {}
        for link in history:
            for game in link.state.games:
                last.setdefault(game.id, game)
                if game.before is not None:
                    following.setdefault(game.before.coin, game)
        return cls(endpoint, history, following, last, {}, {}, {})

    def published(self, solution: bytes) -> ChannelState | None:
        """The state whose unroll coin a channel coin's spend made; None if we never signed it."""
        key = (b"", solution)
        if key not in self._read:
            channel, conditions = self.endpoint.channel, channel_conditions(solution)
            self._read[key] = next(
                (
                    link.state
                    for link in self.history
                    if conditions == channel.on_chain(link.state).channel_conditions
                ),
                None,
            )
        return self._read[key]

    def with_unroll_coin(self, coin: Coin) -> ChannelState | None:
        """The state whose unroll coin this is; None if we never signed it."""
        channel = self.endpoint.channel
        if not self._unrolls:
            states = (link.state for link in self.history)
            self._unrolls.update((channel.on_chain(one).unroll_puzzle_hash, one) for one in states)
        state = self._unrolls.get(coin.puzzle_hash)
        return (
            state if coin == Coin(channel.coin.id, coin.puzzle_hash, channel.coin.amount) else None
        )

    def paying(
        self, published: ChannelState, coins: Iterable[Coin], *, timed_out: bool
    ) -> ChannelState | None:
        """The state that an unroll coin was spent to, by the coins that it created.

        `timed_out`: it was old enough for its timeout form. None if we never signed such a state.
        """
        channel = self.endpoint.channel
        paid = sorted((coin.puzzle_hash, coin.amount) for coin in coins)
        key = channel.on_chain(published).unroll_puzzle_hash, repr((timed_out, paid)).encode()
        if key not in self._read:
            states = {
                link.state.number: link.state
                for link in self.history
                if self._pays(link.state, paid)
            }
            number = paid_number(states, published.number, timed_out=timed_out)
            self._read[key] = states[number] if number is not None else None
        return self._read[key]

    def _pays(self, state: ChannelState, paid: list[tuple[bytes, int]]) -> bool:
        """True if a state pays exactly these coins. Puzzle hashes of games are computed last."""
        channel = self.endpoint.channel
        balances = [one for one in zip(channel.rewards, state.balances, strict=True) if one[1]]
        if len(balances) + len(state.games) != len(paid) or not {*balances}.issubset(paid):
            return False
        return sorted(channel.paid(state)) == paid

    def outcome(self, published: ChannelState, solution: bytes) -> ChannelState | None:
        """The state that an unroll coin was spent to; None for one that we never signed."""
        channel = self.endpoint.channel
        key = (channel.on_chain(published).unroll_puzzle_hash, solution)
        if key not in self._read:
            number = unroll_number(channel, published, solution)
            state = self.history.numbered(number) if number is not None else None
            if state is not None and state != published and not pays(channel, state, solution):
                state = None
            self._read[key] = state
        return self._read[key]

    def with_coin(self, coin: Coin) -> LiveGame | None:
        """A game that has this coin in one of our states."""
        live = (game for link in self.history for game in link.state.games)
        at = coin.puzzle_hash, coin.amount
        return next((one for one in live if (one.coin.puzzle_hash(), one.coin.amount) == at), None)

    def sent_from(self, game: LiveGame) -> LiveGame | None:
        """The game after the move that we made at this coin, if we ever made one."""
        return self._next.get(game.coin) if game.mover is self.endpoint.side else None

    def settled_by_us(self, game: LiveGame) -> bool:
        """True if we settled the game at this coin, and so must not move again."""
        return game.mover is self.endpoint.side and self.settled_at(game.id) == game.coin

    def settled_at(self, game_id: int) -> GameCoin | None:
        """The coin at which a game was settled off chain; None if it is live, or never began."""
        last = self._last.get(game_id)
        live = last is None or self.history.state.game(game_id) is not None
        return None if live or last is None else last.coin

    def ended_off_chain(self, game_id: int) -> tuple[int, int] | None:
        """The payout of a game that was settled off chain, the initiator's first."""
        settled = self.settled_at(game_id) is not None
        return self._last[game_id].shares() if settled else None

    def games_not_in(self, state: ChannelState) -> tuple[int, ...]:
        """The games of newer states that this one does not have, by id."""
        if state.number not in self._void:
            newer = (link.state for link in self.history if link.state.number > state.number)
            games = (game.id for later in newer for game in later.games)
            self._void[state.number] = tuple(sorted({one for one in games if not state.game(one)}))
        return self._void[state.number]

    def player_at(self, state: ChannelState, game: LiveGame) -> Player | None:
        """Our seat in a live game as of this state: it sees all moves up to there again.

        None if the locks of its deck are erased, since it was final in a newer state.
        """
        if not self.endpoint.can_play(game):
            return None
        path = [
            known
            for link in self.history
            if link.state.number <= state.number and (known := link.state.game(game.id))
        ]
        player = self.endpoint.new_player(game)
        coin = None
        for known in reversed(path):
            if known.coin != coin and known.before is not None:
                player = player_after(player, known.position, known.memory)
            coin = known.coin
        return player
