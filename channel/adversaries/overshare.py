"""A share that the game coin cannot pay."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class Overshare(MoveChanger):
    """Declares more for the opponent than there is, so that nothing could be claimed."""

    name = "overshare"
    about = "declares a share above what the game coin holds"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        amount = game.coin.amount
        share = self.plan.chance.pick((amount + 1, 2 * amount + 1, (1 << 63) - 1))
        return msgspec.structs.replace(move, share=share)
