"""An integer in more bytes than it needs."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.messages import Move
from channel.state import LiveGame


@register
class NonMinimal(MoveChanger):
    """Writes an amount with a leading zero."""

    name = "non-minimal"
    about = "writes an amount with a leading zero"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if not 32 <= len(move.move) < game.coin.max_move_size:
            return None
        return msgspec.structs.replace(move, move=move.move[:32] + bytes(1) + move.move[32:])
