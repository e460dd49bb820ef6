"""Anything at any time: what no list has, found by chance."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain
from channel.chain.observations import Block
from channel.peer.interface import Effect, GoOnChain, Push
from channel.protocol.game_spends import claim_bundle, move_bundle
from channel.protocol.half_signed import preempt, time_out
from channel.protocol.messages import Batch, Message, Request, encode


@register
class Madman(OnChain):
    """Drops, repeats and changes what it says; pushes whatever it can build."""

    name = "madman"
    about = "does something else at every turn, on and off the chain"
    needs_game = False

    def act(self) -> list[Effect]:
        """It goes on chain when it likes to."""
        return []

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The message, or none, or twice, or with another beside it."""
        kind = self.plan.chance.below(12)
        self.done = True
        if kind == 0:
            return []
        if kind == 1:
            return [blob, blob]
        if kind == 2:
            return [encode(Request()), blob]
        if kind == 3 and isinstance(message, Batch) and self.before() is not None:
            return [blob, self.batch(self.peer.play.state, ())]
        return [blob]

    def push(self, push: Push) -> list[Effect]:
        """Mostly the spend, sometimes not."""
        return [] if self.plan.chance.below(4) == 0 else [push]

    def block(self, block: Block) -> list[Effect]:
        """With every block something, while there is anything."""
        effects: list[Effect] = []
        states = self.completable()
        chance = self.plan.chance
        if not self.due or not states:
            return effects
        if self.peer._dispute is None and chance.below(8) == 0:
            effects += self.command(GoOnChain("why not")) or []
        if chance.below(3) == 0:
            effects.append(Push("any state", self.publishes(chance.pick(states))))
        if chance.below(3) == 0:
            link = chance.pick([*self.peer.play.history])
            bundle = preempt(self._channel(), self.keys, chance.pick(states), link.state)
            effects.append(Push("any preemption", bundle))
        if chance.below(3) == 0:
            link = chance.pick([*self.peer.play.history])
            effects.append(Push("any timeout", time_out(self._channel(), link.state)))
        for spot, _ in self.tips(block):
            if chance.below(2):
                effects.append(Push("claim", claim_bundle(self._channel(), spot.coin, spot.game)))
            else:
                share = chance.below(spot.game.coin.amount + 1)
                size = min(spot.game.coin.max_move_size, 40)
                if spot.game.coin.infohash_b and spot.game.mover is self.peer.config.side:
                    coin = spot.game.coin.after(chance.bytes(size), chance.bytes(32), share, size)
                    bundle = move_bundle(
                        self._channel(), self.keys, spot.coin, spot.game.coin, coin
                    )
                    effects.append(Push("any move", bundle))
        return effects
