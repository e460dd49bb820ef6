"""The last byte of a final move, which says what is shown, is another one."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.messages import Move
from channel.state import LiveGame


@register
class BadSelection(MoveChanger):
    """Shows other cards than the best, or none that there are."""

    name = "bad-selection"
    about = "shows other cards than the best, or none that there are"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if move.commitment or not move.move:
            return None
        last = self.plan.chance.below(256)
        return msgspec.structs.replace(move, move=move.move[:-1] + bytes([last]))
