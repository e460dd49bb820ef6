"""The last byte of a move that selects, which says what is shown or given away, is another one."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class BadSelection(MoveChanger):
    """Shows, or gives away, other cards than it may, or than are best."""

    name = "bad-selection"
    about = "selects other cards than the best, too many, or none that there are"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        seat = self.seat(game)
        selects = seat is not None and any(choice.options for choice in seat.choices())
        if not move.move or (move.commitment and not selects):
            return None
        last = self.plan.chance.below(256)
        return msgspec.structs.replace(move, move=move.move[:-1] + bytes([last]))
