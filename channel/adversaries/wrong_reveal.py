"""A byte of what is revealed is another one."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class WrongReveal(MoveChanger):
    """Reveals what it did not commit to."""

    name = "wrong-reveal"
    about = "reveals what it did not commit to"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if not move.move:
            return None
        blob = bytearray(move.move)
        blob[self.plan.chance.below(min(len(blob), 16))] ^= 1 + self.plan.chance.below(255)
        return msgspec.structs.replace(move, move=bytes(blob))
