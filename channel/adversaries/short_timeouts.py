"""Games that leave the other side too little time to answer."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.proposing_base import Proposing
from channel.protocol.messages import Batch, BatchAction, Message, Propose
from channel.protocol.proposals import Wish, offer_of


@register
class ShortTimeouts(Proposing):
    """No rule forbids to propose such a game: the other side has to refuse it."""

    name = "short-timeouts"
    about = "proposes games with too short a time for each move"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with less time in every game that it proposes."""
        before = self.before()
        if self.done or not isinstance(message, Batch) or before is None:
            return [blob]
        least = self.peer.config.agreement.confirmations
        timeout = self.plan.chance.pick((1, least, least + 2))
        actions: list[BatchAction] = []
        for action in message.actions:
            if isinstance(action, Propose):
                self.done = True
                offers = [
                    offer_of(
                        self._channel(),
                        self.peer.config.side,
                        offer.game_id,
                        Wish(offer.game, offer.parameters, timeout, offer.proposer_is_alice),
                    )
                    for offer in action.offers
                ]
                action = Propose(tuple(offers))
            actions.append(action)
        return [self.batch(before, actions)] if self.done else [blob]
