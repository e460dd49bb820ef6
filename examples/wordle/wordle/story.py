"""A game of Wordle in lines for people."""

from __future__ import annotations

from channelsim.games.contract import Hand, Line, Player, Seat
from channelsim.games.story import payout_lines
from wordle.marks import rounds
from wordle.states import Answering, Guessing
from wordle.validators import REVEAL_SIZE, WORD_SIZE


class WordleStory:
    """Shows each guess with its clue below, and the word at the end."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest move."""
        step = hand.steps[-1]
        name, move = hand.names[step.seat], step.after.move.decode("ascii", "replace")
        match step.before.state:
            case Guessing():
                return [((f"{name} guesses  ", ""), (move, "bold"))]
            case Answering() if len(move) == REVEAL_SIZE:
                return [((f"{name} reveals  ", ""), (move[:WORD_SIZE], "green"))]
            case Answering():
                return [((f"{name} answers  ", ""), (move, "yellow"))]
            case None:
                return [((f"{name} accepts", ""),)]
            case _:
                return [((f"{name} commits to a word", ""),)]

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The payouts."""
        return payout_lines(hand)

    def view(self, player: Player) -> list[Line]:
        """The guesses and clues so far."""
        state = player.position.state
        history = state.history if isinstance(state, Guessing | Answering) else b""
        return [
            ((f"  {guess.decode()}  ", ""), (clue.decode(), "yellow"))
            for guess, clue in rounds(history)
        ]
