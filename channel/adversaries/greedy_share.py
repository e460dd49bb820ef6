"""A share that is too small."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class GreedyShare(MoveChanger):
    """Declares less for the opponent than is its due."""

    name = "greedy-share"
    about = "declares less for the opponent than is its due"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if not move.share:
            return None
        return msgspec.structs.replace(move, share=self.plan.chance.below(move.share))
