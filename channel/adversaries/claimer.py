"""It claims from the first block on, and so in the very block in which that is due."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain, ripe
from channel.chain.coins import Coin
from channel.peer.interface import Effect, Push
from channel.protocol.game_spends import claim_bundle
from channel.protocol.half_signed import time_out, unroll_coin


@register
class Claimer(OnChain):
    """Whoever moves or preempts late finds its claim in the mempool already."""

    name = "claimer"
    about = "claims and times out with every block, to be in at exactly the timeout"
    needs_game = False

    def last(self) -> list[Effect]:
        """Every unspent coin, before its time and from then on."""
        dispute = self.peer._dispute
        if dispute is None:
            return []
        channel = self._channel()
        effects: list[Effect] = []
        for link in self.peer.play.history:
            if self._tempts(unroll_coin(channel, link.state), channel.unroll_timeout):
                effects.append(Push("timeout", time_out(channel, link.state)))
        for spot in dispute.judged.values():
            if self._tempts(spot.coin, spot.game.coin.timeout):
                effects.append(Push("claim", claim_bundle(channel, spot.coin, spot.game)))
        self.done = self.done or bool(effects)
        return effects

    def _tempts(self, coin: Coin, timeout: int) -> bool:
        seen = self.plan.chain.coin(coin.id)
        unspent = seen is not None and seen.spent is None
        return unspent and ripe(self.plan.chain.peak() - (seen.born if seen else 0), timeout)
