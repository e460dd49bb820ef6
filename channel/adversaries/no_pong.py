"""An opening where the rules leave no choice: the toss, for one, lets the other side open."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame
from clsp.integers import int_to_atom


@register
class NoPong(MoveChanger):
    """Bets in a move that leaves no choice, as far as its size lets it."""

    name = "no-pong"
    about = "opens instead of the pong: bets in a move in which there is nothing to decide"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move with an amount behind it."""
        seat = self.seat(game)
        forced = seat is not None and any(choice.forced for choice in seat.choices())
        room = game.coin.max_move_size - len(move.move)
        if not forced or room < 1:
            return None
        stake = game.coin.amount // 2
        amount = int_to_atom(self.plan.chance.pick((1, max(1, game.terms.unit), stake, -1)))
        return msgspec.structs.replace(move, move=move.move + amount[:room])
