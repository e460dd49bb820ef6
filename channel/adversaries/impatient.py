"""It publishes an old state and claims it before its time, and with false signatures."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.coins import Bundle
from channel.events import Block, Effect, Push
from channel.signed import NO_SIGNATURE, publish, time_out


@register
class Impatient(Adversary):
    """What the puzzles forbid, tried: a timeout at once, another parity, no signature."""

    name = "impatient"
    about = "publishes an old state with its timeout in one bundle, and states that it only sent"

    def block(self, block: Block) -> list[Effect]:
        """All of it with every block from its step on."""
        states = self.completable()
        if not self.due or not states:
            return []
        self.done = True
        channel, old = self._channel(), states[0]
        early = time_out(channel, old.state)
        both = self.publishes(old)
        effects: list[Effect] = [
            Push("early", early),
            Push("early", Bundle((*both.spends, *early.spends), both.signature)),
            Push("unsigned", Bundle(both.spends, NO_SIGNATURE)),
        ]
        sent = next((link for link in self.peer.book.past if link.signed is None), None)
        if sent is not None:
            # Its own half in place of the other side's.
            halves = self.halves(sent.state)
            effects.append(Push("sent", publish(channel, self.keys, halves)))
        return effects
