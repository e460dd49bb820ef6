"""A move that is longer than it may be here."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.messages import Move
from channel.state import LiveGame


@register
class Padded(MoveChanger):
    """Opens where it should only reveal."""

    name = "padded"
    about = "opens where it should only reveal"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if len(move.move) >= game.coin.max_move_size:
            return None
        return msgspec.structs.replace(move, move=move.move + b"\x01")
