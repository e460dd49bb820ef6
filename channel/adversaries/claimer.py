"""It claims from the first block on, and so in the very block in which that is due."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain
from channel.events import Effect, Push
from channel.onchain.spends import claim_bundle
from channel.signed import time_out


@register
class Claimer(OnChain):
    """Whoever moves or preempts late finds its claim in the mempool already."""

    name = "claimer"
    about = "claims and times out with every block, to be in at exactly the timeout"
    needs_game = False

    def last(self) -> list[Effect]:
        """Every unspent coin, whether it is time or not."""
        dispute = self.peer._dispute
        if dispute is None:
            return []
        effects: list[Effect] = []
        for link in self.peer.book.past:
            unroll = time_out(self._channel(), link.state)
            if self._unspent(unroll.spends[0].coin.id):
                self.done = True
                effects.append(Push("timeout", unroll))
        for spot in dispute.judged.values():
            if self._unspent(spot.coin.id):
                self.done = True
                effects.append(Push("claim", claim_bundle(self._channel(), spot.coin, spot.game)))
        return effects

    def _unspent(self, coin_id: bytes) -> bool:
        seen = self.plan.chain.coin(coin_id)
        return seen is not None and seen.spent is None
