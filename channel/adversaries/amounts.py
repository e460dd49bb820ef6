"""Where the amount of a bet stands in a move: found by making two, so it works for any game."""

from __future__ import annotations

from dataclasses import dataclass

from channel.adversaries.base import MoveChanger
from channel.peer.own_action import own_action
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame
from clsp.integers import int_to_atom
from games.contract import Action


@dataclass(frozen=True, slots=True)
class Bet:
    """A legal move with an amount at the end, from `least` to `most` mojos.

    `wire` is the move for `most`; `head` what stands before the amount.
    """

    wire: Move
    head: bytes
    least: int
    most: int


class Bettor(MoveChanger):
    """Changes a move where it may bet, whatever its player chose to do there."""

    def bet(self, game: LiveGame) -> Bet | None:
        """A bet that would be legal here, taken apart; None where there is none."""
        table, seat = self.peer.endpoint, self.seat(game)
        if table is None or seat is None:
            return None
        for choice in seat.choices():
            if choice.options or not choice.most:
                continue
            ends = (choice.least, choice.most)
            wires = [
                own_action(table, game, seat, Action(choice.verb, amount)).wire for amount in ends
            ]
            heads = [
                wire.move.removesuffix(int_to_atom(amount))
                for wire, amount in zip(wires, ends, strict=True)
                if isinstance(wire, Move)
            ]
            last = wires[-1]
            if isinstance(last, Move) and len(heads) == 2 and heads[0] == heads[1]:
                return Bet(last, heads[0], choice.least, choice.most)
        return None
