"""States that it sent itself: of the other side's parity, and not its own to publish."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.coins import Bundle
from channel.events import Block, Effect, Push
from channel.signed import NO_SIGNATURE, Signed, preempt


@register
class OtherParity(Adversary):
    """It has its own halves alone, and tries what passes for the other side's."""

    name = "stale-other-parity"
    about = "publishes states that only the other side can complete, and preempts with them"

    def block(self, block: Block) -> list[Effect]:
        """Every block one of them, newest or oldest, under signatures that are none."""
        if not self.due or self.peer._book is None:
            return []
        past = list(self.peer.book.past)
        sent = [link.state for link in past if link.signed is None]
        signed = self.completable()
        if not sent:
            return []
        self.done = True
        state = self.plan.chance.pick(sent)
        # Its own half twice; the halves of another state; no half at all.
        own = self.halves(state)
        borrowed = [Signed(state, own.on_chain, one.halves) for one in signed[-1:]]
        effects: list[Effect] = []
        for forged in (own, *borrowed):
            effects.append(Push("other parity", self.publishes(forged)))
            for link in past:
                if link.state.number < state.number:
                    bundle = preempt(self._channel(), self.keys, forged, link.state)
                    effects.append(Push("other parity", bundle))
                    break
        bare = Bundle(self.publishes(own).spends, NO_SIGNATURE)
        return [*effects, Push("other parity", bare)]
