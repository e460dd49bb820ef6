"""A game of sea battle in lines for people."""

from __future__ import annotations

from channelsim.games.contract import Hand, Line, PlainPlayer, Player, Seat
from channelsim.games.story import payout_lines
from seabattle.board import cells
from seabattle.states import Joining, Showing, Turn
from seabattle.tree import HASH

ROW = 4


class SeaBattleStory:
    """Shows each shot, each answer, and the boards at the end: `#` is a ship, `.` is water."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest move."""
        step = hand.steps[-1]
        name, move = hand.names[step.seat], step.after.move
        match step.before.state:
            case None:
                return [((f"{name} accepts", ""),)]
            case Joining():
                return [((f"{name} commits to a board, and shoots at {move[HASH]}", ""),)]
            case Turn(incoming=(index, *_)):
                cell = ("a hit", "red") if move[0] else ("water", "cyan")
                return [
                    ((f"{name} shows {index}: ", ""), cell, (f", and shoots at {move[-1]}", ""))
                ]
            case _ if len(move) == HASH:
                return [((f"{name} commits to a board", ""),)]
            case _:
                return [((f"{name} shows the board", ""),), *rows(move)]

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The payouts."""
        return payout_lines(hand)

    def view(self, player: Player) -> list[Line]:
        """The player's own board, and the cells that it has shot at."""
        shown = rows(player.hidden["board"]) if isinstance(player, PlainPlayer) else []
        state = player.position.state
        fired = state.fired if isinstance(state, Turn | Showing) else ()
        return [*shown, (("your shots", "dim"), (f"  {', '.join(map(str, reversed(fired)))}", ""))]


def rows(board: bytes) -> list[Line]:
    """The four rows of a board, with the number of the first cell of each."""
    signs = "".join("#" if cell else "." for cell in cells(board))
    return [
        ((f"  {first:2}  ", "dim"), (" ".join(signs[first : first + ROW]), "bold"))
        for first in range(0, len(signs), ROW)
    ]
