"""Acceptances and cancellations of the same thing."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Accept, Batch, BatchAction, Cancel, Message, Settle


@register
class CrossAccepter(Adversary):
    """It takes up a proposal and refuses it at once, or refuses what has been taken up."""

    name = "cross-accepter"
    about = "accepts and cancels the same proposal, in one batch or afterwards"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with both, for every proposal that was open, and every game that is live."""
        before = self.before()
        if self.done or not isinstance(message, Batch) or before is None:
            return [blob]
        ids = [group.id for group in before.groups] + [game.id for game in before.games]
        if not ids:
            return [blob]
        self.done = True
        game_id = self.plan.chance.pick(ids)
        both: tuple[BatchAction, ...] = (Cancel(game_id, "no"), Accept(game_id))
        settles = tuple(action for action in message.actions if isinstance(action, Settle))
        rest = tuple(
            action for action in message.actions if not isinstance(action, Settle | Cancel | Accept)
        )
        crosswise = both[: 1 + self.plan.chance.below(2)]
        return [self.batch(before, (*settles, *crosswise, *rest))]
