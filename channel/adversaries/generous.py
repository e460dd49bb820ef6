"""A share that is too large, which some moves allow."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class Generous(MoveChanger):
    """Declares more for the opponent than is its due."""

    name = "generous"
    about = "declares more for the opponent than is its due"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if move.share >= game.coin.amount:
            return None
        return msgspec.structs.replace(move, share=move.share + 1)
