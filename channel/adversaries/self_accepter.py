"""It accepts what it proposed itself."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.proposing_base import Proposing
from channel.protocol.messages import Accept, Batch, Message, Propose


@register
class SelfAccepter(Proposing):
    """A proposal and its acceptance by the same side."""

    name = "self-accepter"
    about = "accepts its own proposal"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """After a proposal, a batch that accepts it."""
        if self.done or not isinstance(message, Batch) or self.peer._play is None:
            return [blob]
        proposes = [action for action in message.actions if isinstance(action, Propose)]
        if not proposes:
            return [blob]
        self.done = True
        group_id = proposes[0].offers[0].game_id
        return [blob, self.batch(self.peer.play.state, (Accept(group_id),))]
