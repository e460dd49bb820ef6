"""An adversary for disputes: a player that guesses a string that is no word."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from channelsim.channel.adversaries.base import adversary
from channelsim.channel.adversaries.moves import MoveChanger
from channelsim.channel.protocol.messages import Move
from channelsim.channel.protocol.state import LiveGame
from channelsim.games.contract import Game, Next
from channelsim.games.judge import commitment, hashes_of
from wordle import GAME
from wordle.dictionary import WORDS
from wordle.states import Answering, Guessing
from wordle.validators import REVEAL_SIZE


@adversary("false-word", "guesses a string that is no word, and declares what it leads to")
class FalseWord(MoveChanger):
    """Changes a letter of its guess; nothing but a signed gap of the dictionary proves it."""

    @classmethod
    def reason_against(cls, games: Sequence[Game]) -> str:
        """The reason, if none of the games is ours."""
        if any(game.name == GAME.name for game in games):
            return ""
        return f"{' or '.join(game.name for game in games)}: no game with a dictionary"

    def change_move(self, move: Move, game: LiveGame) -> Move | None:
        """A guess that is no word, with the right commitment; None for other moves."""
        state = game.position.state
        if not isinstance(state, Guessing):
            return None
        hashes = hashes_of(GAME)
        guess = move.move[:4] + (b"q" if move.move[4:] != b"q" else b"x")
        if guess in WORDS:
            return None
        leads = Answering(state.commit, state.history, guess, hashes["guess"])
        declared = commitment(Next("clue", leads, REVEAL_SIZE), hashes)
        return msgspec.structs.replace(move, move=guess, commitment=declared)
