"""The two seats of Wordle: their moves, their evidence, and two ways to guess."""

from __future__ import annotations

from hashlib import sha256

from channelsim.clsp.values import to_list
from channelsim.games.chance import Chance
from channelsim.games.choices import random_action
from channelsim.games.contract import (
    Action,
    Candidate,
    Evidence,
    Forced,
    Initial,
    Moves,
    Plain,
    PlainPlayer,
    Play,
    Player,
    Position,
    Seat,
    Terms,
)
from wordle.dictionary import WORDS, gaps_at
from wordle.marks import fits, marks
from wordle.states import LONGEST, Answering, Committing, Guessing
from wordle.validators import COMMIT_SIZE, REVEAL_SIZE, SALT_SIZE, WORD_SIZE, due

ENTROPY_SIZE = 4 + SALT_SIZE
"""Secret bytes of a player: four choose Alice's word, the others are her salt."""


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("commit", Committing(), COMMIT_SIZE, 0)


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player at the start of a game; only Alice uses its secret."""
    word = WORDS[int.from_bytes(entropy[:4], "big") % len(WORDS)]
    secret = word + entropy[4:ENTROPY_SIZE]
    return PlainPlayer(seat, terms, initial(terms).position, secret, moves, proofs)


def moves(player: PlainPlayer) -> Moves:
    """The choices; only Bob decides. A player that stops leaves everything to the other one."""
    secret, state = player.secret, player.position.state
    match state:
        case Guessing():
            return {Plain(word.decode()): Play(word, 0) for word in WORDS}
        case Answering(history=history, guess=guess):
            word = secret[:WORD_SIZE]
            if word == guess or len(history) == LONGEST:
                return {Forced("reveal"): Play(secret, due(word, state, player.terms.amount))}
            return {Forced("clue"): Play(marks(guess, word), 0)}
        case _:
            return {Forced("commit"): Play(sha256(secret).digest(), 0)}


def proofs(player: PlainPlayer, before: Position, move: bytes) -> tuple[Candidate, ...]:
    """The gaps that the opponent's word is in or touches, with their signatures."""
    if before.validator == "guess" or (before.validator == "clue" and len(move) == REVEAL_SIZE):
        gaps = gaps_at(move[:WORD_SIZE])
        return tuple(Evidence(to_list((gap.low, gap.high)), gap.signature) for gap in gaps)
    return ()


def solve(player: Player, chance: Chance) -> Action:
    """Guess a word of which all clues so far are true."""
    state = player.position.state
    if isinstance(state, Guessing):
        possible = [word for word in WORDS if fits(word, state.history)]
        return Action(chance.pick(possible or WORDS).decode())
    return guess_any(player, chance)


def guess_any(player: Player, chance: Chance) -> Action:
    """Guess any word."""
    return random_action(chance.pick(player.choices()), chance)
