"""Wordle: Bob guesses Alice's secret word of five letters, and gets more for fewer guesses.

Alice commits to a word. Bob has five guesses; Alice answers each by marks, and shows her word after
a right guess or the fifth. Nobody can lie for long: the word must fit all clues, and who guesses
or hides a string that is no word is slashed by the signed gap of the dictionary that it is in.
"""

from __future__ import annotations

from pathlib import Path

from channelsim.clsp.compiler import compile_programs
from channelsim.games.contract import Game, Parameters, Terms, even_terms
from wordle.lemmas import MARKS
from wordle.player import ENTROPY_SIZE, guess_any, initial, player, solve
from wordle.story import WordleStory
from wordle.validators import RULES, VALIDATORS


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("wordle", parameters, "WORDLE-TERMS-1")


GAME = Game(
    name="wordle",
    title="Wordle: Bob guesses Alice's word",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=ENTROPY_SIZE,
    policies={"solver": solve, "random": guess_any},
    story=WordleStory(),
    lemmas=(MARKS,),
)
