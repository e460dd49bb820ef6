"""It takes its move back by replacing blocks, once it has seen more, and answers again."""

from __future__ import annotations

from dataclasses import replace

from channel.adversaries.base import Plan, register
from channel.adversaries.onchain_base import OnChain
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.peer.machine import Peer
from channel.peer.onchain.tracked_coins import TrackedCoin
from channel.peer.own_action import own_action
from channel.protocol.game_spends import move_bundle
from channel.protocol.state import LiveGame
from games.contract import Action
from games.referee import GameCoin


@register
class AnswersAgain(OnChain):
    """It moves on chain, waits for the answer as long as it may, takes its move back by replacing
    blocks, answer and all, and makes another one."""

    name = "answers-again"
    about = "replaces blocks with its own move in them, once it has seen more, and moves anew"

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._picture = Block(0)
        self._again: dict[GameCoin, LiveGame] = {}

    def push(self, push: Push) -> list[Effect]:
        """Not the move as it was."""
        coins = {spend.coin.puzzle_hash for spend in push.bundle.spends}
        taken_back = any(coin.puzzle_hash() in coins for coin in self._again)
        return [] if push.name == "move" and taken_back else [push]

    def cheat(self, block: Block) -> list[Effect]:
        """Where a move of its own has gone, make another."""
        self._picture = block
        effects: list[Effect] = []
        for spot, _ in self.tips(block):
            other = self._again.get(spot.game.coin)
            if other is not None:
                self.done = True
                self._decide(spot, other)
                bundle = move_bundle(
                    self._channel(), self.keys, spot.coin, spot.game.coin, other.coin
                )
                effects.append(Push("again", bundle))
        return effects

    def last(self) -> list[Effect]:
        """Take a move back when its answer is there, or as late as one reorganisation reaches."""
        dispute = self.peer._dispute
        if dispute is None:
            return []
        reach = self.peer.config.agreement.confirmations
        for spot, seen in self.spots(self._picture):
            made, other = dispute.decided.get(spot.game.coin), self._other(spot)
            if seen.spent is None or made is None or other is None:
                continue
            back = self._picture.peak - seen.spent + 1
            answered = bool(self.plan.chain.pending(spot.child(made.coin).id))
            if (back == reach or answered) and self.plan.rewind(back):
                self._again[spot.game.coin] = other
                return []
        return []

    def _decide(self, spot: TrackedCoin, other: LiveGame) -> None:
        """Its peer is to go on from the other move."""
        dispute = self.peer._dispute
        if dispute is not None:
            changed = {**dispute.decided, spot.game.coin: other}
            self.peer._dispute = replace(dispute, decided=changed)

    def _other(self, spot: TrackedCoin) -> LiveGame | None:
        """What else it could have done here."""
        dispute, table = self.peer._dispute, self.peer.endpoint
        if dispute is None or table is None or spot.player is None:
            return None
        decided = dispute.decided.get(spot.game.coin)
        if decided is None:
            return None
        for choice in spot.player.choices():
            for number in (*choice.options[:2], choice.least, choice.most):
                if choice.forced or not choice.takes(number):
                    continue
                action = Action(choice.verb, number)
                other = own_action(table, spot.game, spot.player, action).after
                if other.coin not in (decided.coin, spot.game.coin):
                    return other
        return None
