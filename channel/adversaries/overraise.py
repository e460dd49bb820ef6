"""An amount that no stake covers."""

from __future__ import annotations

import msgspec

from channel.adversaries.amounts import Bettor
from channel.adversaries.base import register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame
from clsp.integers import int_to_atom


@register
class Overraise(Bettor):
    """Bets one mojo too much, far too much, or less than nothing, in a bet that is else right."""

    name = "overraise"
    about = "bets one mojo more than its stack covers, far more, or less than nothing"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The bet with another amount."""
        bet = self.bet(game)
        if bet is None:
            return None
        room = game.coin.max_move_size - len(bet.head)
        largest = (1 << (8 * room - 1)) - 1
        amounts = (bet.most + 1, 2 * bet.most, game.coin.amount, 1000 * bet.most, largest)
        negative = (-1, -bet.most, -largest)
        amount = self.plan.chance.pick((*amounts, *negative))
        return msgspec.structs.replace(bet.wire, move=bet.head + int_to_atom(amount))
