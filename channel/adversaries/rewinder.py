"""It replaces blocks that have a spend of the other side in them, whenever it can."""

from __future__ import annotations

from channel.adversaries.base import Plan, register
from channel.adversaries.onchain_base import OnChain, ripe
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.peer.machine import Peer
from channel.protocol.game_spends import claim_bundle
from channel.protocol.half_signed import time_out, unroll_coin


@register
class Rewinder(OnChain):
    """What is in the chain is in it only until it is deep; meanwhile it tries to be quicker."""

    name = "rewinder"
    about = "publishes an old state, and replaces the blocks in which it was stopped"
    needs_game = False

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._picture = Block(0)

    def act(self) -> list[Effect]:
        """Go there with the oldest state."""
        effects = super().act()
        if not effects or self.peer._dispute is None or not self.completable():
            return effects
        return [Push("stale", self.publishes(self.completable()[0])), *effects]

    def cheat(self, block: Block) -> list[Effect]:
        """Claim and time out whatever is there: one of these may be the first."""
        self._picture = block
        effects: list[Effect] = []
        channel, oldest = self._channel(), self.completable()[0].state
        unroll = unroll_coin(channel, oldest)
        seen = next((one for one in block.coins if one.coin == unroll), None)
        if seen is not None and ripe(block.peak - seen.born, channel.unroll_timeout):
            effects.append(Push("timeout", time_out(channel, oldest)))
        for spot, age in self.tips(block):
            if ripe(age, spot.game.coin.timeout):
                effects.append(Push("claim", claim_bundle(channel, spot.coin, spot.game)))
        return effects

    def last(self) -> list[Effect]:
        """As deep as it can, whenever something was spent within that depth."""
        reach = self.peer.config.agreement.confirmations
        fresh = [
            seen.spent
            for seen in self._picture.coins
            if seen.spent is not None and self._picture.peak - seen.spent < reach
        ]
        if fresh and self.plan.chance.below(3) == 0 and self.plan.rewind(reach):
            self.done = True
        return []
