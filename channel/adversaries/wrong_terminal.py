"""A legal move that is declared to be the last, or a last one that is not."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class WrongTerminal(MoveChanger):
    """Ends the game with a move that does not."""

    name = "wrong-terminal"
    about = "ends the game with a move that does not"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        ends = not move.commitment
        return msgspec.structs.replace(move, commitment=bytes([1]) * 32 if ends else b"")
