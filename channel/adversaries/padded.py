"""A move that is longer than it has to be."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class Padded(MoveChanger):
    """Bytes behind the move, as many as its size lets it have, or more."""

    name = "padded"
    about = "sends a move with more bytes behind it, up to its limit and beyond"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        room = max(0, game.coin.max_move_size - len(move.move))
        more = self.plan.chance.pick((1, max(1, room), room + 1, room + 1000))
        tail = self.plan.chance.bytes(more)
        return msgspec.structs.replace(move, move=move.move + tail)
