"""Proposals under ids that are not its own."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import register
from channel.adversaries.proposing_base import Proposing
from channel.protocol.messages import Batch, BatchAction, Message, Propose


@register
class WrongIds(Proposing):
    """A proposal whose games have the other side's parity."""

    name = "wrong-ids"
    about = "proposes under the other side's ids"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with its proposal's ids raised by one."""
        before = self.before()
        if self.done or not isinstance(message, Batch) or before is None:
            return [blob]
        actions: list[BatchAction] = []
        for action in message.actions:
            if isinstance(action, Propose):
                self.done = True
                offers = tuple(
                    msgspec.structs.replace(offer, game_id=offer.game_id + 1)
                    for offer in action.offers
                )
                action = Propose(offers)
            actions.append(action)
        return [self.batch(before, actions)] if self.done else [blob]
