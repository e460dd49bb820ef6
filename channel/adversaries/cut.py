"""A move that is shorter than it has to be."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class Cut(MoveChanger):
    """Sends a move that is cut short."""

    name = "cut"
    about = "sends a move that is cut short"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if not move.move:
            return None
        length = self.plan.chance.below(len(move.move))
        return msgspec.structs.replace(move, move=move.move[:length])
