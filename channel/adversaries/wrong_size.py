"""A legal move with a wrong size limit: the opponent could not answer."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class WrongSize(MoveChanger):
    """Sets another limit on the answer than its move leads to."""

    name = "wrong-size"
    about = "sets another limit on the answer than its move leads to"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        size = self.plan.chance.pick((0, move.max_move_size + 1, max(0, move.max_move_size - 1)))
        return msgspec.structs.replace(move, max_move_size=size)
