"""An amount behind the move that no stake covers."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.messages import Move
from channel.state import LiveGame
from clsp.integers import int_to_atom


@register
class Overraise(MoveChanger):
    """Bets more than there is."""

    name = "overraise"
    about = "bets more than there is"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        if game.coin.max_move_size < len(move.move) + 1 or len(move.move) < 32:
            return None
        amount = int_to_atom(game.coin.amount * (1 + self.plan.chance.below(1000)))
        return msgspec.structs.replace(move, move=move.move[:32] + amount[:8])
