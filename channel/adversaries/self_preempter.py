"""It publishes an old state and preempts itself in the same bundle."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.chain.coins import Bundle
from channel.chain.observations import Block
from channel.crypto import bls
from channel.peer.interface import Effect, Push
from channel.protocol.half_signed import preempt


@register
class SelfPreempter(Adversary):
    """Old to newer in one block, past the honest side: parity is what stops it."""

    name = "self-preempter"
    about = "publishes an old state and preempts it by a newer one of its own, in one bundle"

    def block(self, block: Block) -> list[Effect]:
        """Every pair of states that it has, with every block from its step on."""
        states = self.completable()
        if not self.due or len(states) < 2:
            return []
        self.done = True
        effects: list[Effect] = []
        for old, new in ((states[0], states[-1]), (states[-2], states[-1]), (states[0], states[0])):
            first = self.publishes(old)
            then = preempt(self._channel(), self.keys, new, old.state)
            signature = bls.add(first.signature, then.signature)
            effects.append(Push("both", Bundle((*first.spends, *then.spends), signature)))
        return effects
