"""States that it sent itself: of the other side's parity, and not its own to publish."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.chain.coins import Bundle
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.protocol.half_signed import NO_SIGNATURE, Signed, preempt


@register
class OtherParity(Adversary):
    """It has its own halves alone, and tries what passes for the other side's."""

    name = "stale-other-parity"
    about = "publishes states that only the other side can complete, and preempts with them"

    def block(self, block: Block) -> list[Effect]:
        """With every block one of them, under signatures that are none."""
        if not self.due or self.peer._play is None:
            return []
        past = list(self.peer.play.history)
        sent = [link.state for link in past if link.signed is None]
        signed = self.completable()
        if not sent:
            return []
        self.done = True
        chance = self.plan.chance
        state = chance.pick(sent)
        # Its own half twice, or the halves of another state, or no half at all.
        forged = self.halves(state)
        if signed and chance.below(2):
            forged = Signed(state, forged.on_chain, chance.pick(signed).halves)
        older = [link.state for link in past if link.state.number < state.number]
        bundle = self.publishes(forged)
        if older and chance.below(2):
            bundle = preempt(self._channel(), self.keys, forged, chance.pick(older))
        if chance.below(4) == 0:
            bundle = Bundle(bundle.spends, NO_SIGNATURE)
        return [Push("other parity", bundle)]
