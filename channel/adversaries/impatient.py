"""It publishes an old state and claims it before its time, and with false signatures."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.chain.coins import Bundle
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.protocol.half_signed import NO_SIGNATURE, time_out


@register
class Impatient(Adversary):
    """What the puzzles forbid, tried: a timeout at once, no signature."""

    name = "impatient"
    about = "publishes an old state with its timeout in one bundle, and without signatures"

    def block(self, block: Block) -> list[Effect]:
        """All of it with every block from its step on."""
        states = self.completable()
        if not self.due or not states:
            return []
        self.done = True
        old = states[0]
        early = time_out(self._channel(), old.state)
        both = self.publishes(old)
        return [
            Push("early", early),
            Push("early", Bundle((*both.spends, *early.spends), both.signature)),
            Push("unsigned", Bundle(both.spends, NO_SIGNATURE)),
        ]
