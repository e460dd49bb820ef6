"""A reward address at which its own move puts a game coin: CH-COINS-1.

The receiver names its address last. By then it knows all keys, and what it will commit to, so it
can compute the coin.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from channelsim.channel.adversaries.base import Plan
from channelsim.channel.adversaries.opening import any_wish
from channelsim.channel.adversaries.rules.breaker import RuleBreaker, add
from channelsim.channel.crypto.keys import PublicKeys
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.endpoint import Endpoint, OwnAction
from channelsim.channel.peer.interface import (
    BrokenOff,
    Effect,
    Event,
    ProposeGames,
    Received,
    Send,
    Tell,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.messages import Hello, Move, decode, encode
from channelsim.channel.protocol.proposals import first_game, offer_of
from channelsim.channel.protocol.state import Channel, LiveGame, Side
from channelsim.games.contract import Action

GAME_ID = 1
"""The id of its first game, which it proposes itself."""

UNIT, STACK = 100, 10


class Addressee(RuleBreaker):
    """As the receiver, takes the puzzle hash of its first game's second coin as reward address."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._wish = any_wish(peer, plan, UNIT, STACK)
        self._proposed = False

    def handle(self, event: Event) -> list[Effect]:
        """Choose the address, and make the move that its peer refuses to make."""
        if isinstance(event, Received) and self.side is Side.RECEIVER:
            self._choose_address(event.message)
        effects = super().handle(event)
        refused = [
            effect.news.blame.rule
            for effect in effects
            if isinstance(effect, Tell) and isinstance(effect.news, BrokenOff)
        ]
        endpoint = self.peer.state.endpoint
        if self.done or refused != ["CH-COINS-1"] or endpoint is None:
            return effects
        self.done = True
        state = self.peer.play.state
        (game,) = (game for game in state.games if game.id == GAME_ID)
        own = _first_move(endpoint, game)
        after = msgspec.structs.replace(
            state,
            number=state.number + 1,
            games=tuple(own.after if live.id == GAME_ID else live for live in state.games),
        )
        if not isinstance(own.wire, Move):
            raise InvariantError("the first move of a game is not a move")
        return [Send(encode(self.signs(after, (own.wire,))))]

    def act(self) -> list[Effect]:
        """Propose the game before the other side proposes one."""
        ready = self.side is Side.RECEIVER and self.peer.phase is Phase.PLAYING
        if self._proposed or not ready or min(self.peer.play.state.balances) < UNIT * STACK:
            return []
        self._proposed = True
        return self.command(ProposeGames((self._wish,))) or []

    def _choose_address(self, blob: bytes) -> None:
        try:
            message = decode(blob)
        except Violation:
            return
        if not isinstance(message, Hello) or self.peer.state.opening.channel is not None:
            return
        peer, config = self.peer, self.peer.config
        own = self.keys.public()
        theirs = replace(own, referee=PublicKeys.read_key("referee", message.referee_key))
        channel = Channel.of(
            keys=(theirs, own),
            rewards=(message.reward_address, config.reward_address),
            payout_signatures=(b"", b""),
            contributions=config.agreement.contributions,
            unroll_timeout=config.agreement.unroll_timeout,
            agg_sig_data=config.agg_sig_data,
            launcher_parent=config.wallet.coin,
        )
        agreed = config.agreement
        endpoint = Endpoint(
            self.side, channel, self.keys, agreed.confirmations, agreed.spacing, config.entropy
        )
        offer = offer_of(channel, self.side, GAME_ID, self._wish)
        coin = _first_move(endpoint, first_game(channel, self.side, offer)).after.coin
        address = coin.puzzle_hash()
        peer.config = replace(config, reward_address=address)


def _first_move(endpoint: Endpoint, game: LiveGame) -> OwnAction:
    """The forced first move in a game."""
    player = endpoint.new_player(game)
    return endpoint.own_action(game, player, Action(player.choices()[0].verb))


add("CH-COINS-1", Addressee)
