"""The rules of Wordle. The same rules as programs are the `.clsp` files beside this one.

Every judge checks the shape and the rules that need no evidence first, and evidence last.
"""

from __future__ import annotations

from hashlib import sha256

from channelsim.clsp.values import Value, int_to_atom, to_list
from channelsim.games.contract import (
    Hashes,
    Next,
    Raise,
    Slash,
    Valid,
    Validator,
    Verdict,
    by_name,
)
from channelsim.games.referee import AGG_SIG_UNSAFE
from wordle.dictionary import SIGNER, gap_message
from wordle.marks import ABSENT, ALL_PLACED, ELSEWHERE, PLACED, fits
from wordle.states import LONGEST, Answering, Committing, Guessing

RULES = {
    "WORDLE-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "WORDLE-COMMIT-1": "Alice's commitment is 32 bytes.",
    "WORDLE-GUESS-1": "Bob's guess has five characters.",
    "WORDLE-GUESS-2": "The characters are letters from a to z.",
    "WORDLE-GUESS-3": "Evidence is a gap around the guess.",
    "WORDLE-GUESS-4": "The guess is in the dictionary: no signed gap is around it.",
    "WORDLE-CLUE-1": "Alice answers by a clue of 5 bytes, or by her word and salt, 21 bytes.",
    "WORDLE-CLUE-2": "A clue is made of the marks `=`, `~` and `.`.",
    "WORDLE-CLUE-3": "A right guess is answered by the word, not by a clue.",
    "WORDLE-CLUE-4": "The fifth guess is answered by the word.",
    "WORDLE-CLUE-5": "The word and the salt hash to Alice's commitment.",
    "WORDLE-CLUE-6": "The word has letters from a to z.",
    "WORDLE-CLUE-7": "All clues were true of the word.",
    "WORDLE-CLUE-8": "Alice shows her word only after a right guess or the fifth.",
    "WORDLE-CLUE-9": "Bob's share is what the number of guesses gives him, if the last is right.",
    "WORDLE-CLUE-10": "Evidence is a gap around the word.",
    "WORDLE-CLUE-11": "The word is in the dictionary: no signed gap is around it.",
}

COMMIT_SIZE, WORD_SIZE, SALT_SIZE = 32, 5, 16
REVEAL_SIZE = WORD_SIZE + SALT_SIZE


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the hash of her word and her salt."""
    if len(move) != COMMIT_SIZE:
        return Slash("WORDLE-COMMIT-1")
    return Valid(Next("guess", Guessing(move, b""), WORD_SIZE))


def guess(
    state: Guessing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob guesses. MOVE is a word."""
    if len(move) != WORD_SIZE:
        return Slash("WORDLE-GUESS-1")
    if not is_lowercase(move):
        return Slash("WORDLE-GUESS-2")
    answering = Answering(state.commit, state.history, move, hashes["guess"])
    legal = Next("clue", answering, REVEAL_SIZE)
    return unless_in_gap(move, evidence, legal, "WORDLE-GUESS-3", "WORDLE-GUESS-4")


def clue(
    state: Answering, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice answers. MOVE is a clue, or her word and salt, which ends the game.

    The share is Bob's.
    """
    if len(move) == len(ALL_PLACED):
        return _give_clue(state, move)
    if len(move) != REVEAL_SIZE:
        return Slash("WORDLE-CLUE-1")
    if sha256(move).digest() != state.commit:
        return Slash("WORDLE-CLUE-5")
    word = move[:WORD_SIZE]
    if not is_lowercase(word):
        return Slash("WORDLE-CLUE-6")
    if not fits(word, state.history):
        return Slash("WORDLE-CLUE-7")
    if word != state.guess and len(state.history) < LONGEST:
        return Slash("WORDLE-CLUE-8")
    if share < due(word, state, amount):
        return Slash("WORDLE-CLUE-9")
    return unless_in_gap(word, evidence, None, "WORDLE-CLUE-10", "WORDLE-CLUE-11")


def _give_clue(state: Answering, move: bytes) -> Verdict:
    if set(move) - set(PLACED + ELSEWHERE + ABSENT):
        return Slash("WORDLE-CLUE-2")
    if move == ALL_PLACED:
        return Slash("WORDLE-CLUE-3")
    if len(state.history) == LONGEST:
        return Slash("WORDLE-CLUE-4")
    history = state.history + state.guess + move
    return Valid(Next("guess", Guessing(state.commit, history), WORD_SIZE))


def due(word: bytes, state: Answering, amount: int) -> int:
    """Bob's share in mojos: 9, 7, 5, 3 or 1 tenths for the first to the fifth guess."""
    if word != state.guess:
        return 0
    return amount * (9 - len(state.history) // 5) // 10


def is_lowercase(word: bytes) -> bool:
    """True if all characters are letters from a to z."""
    return all(ord("a") <= letter <= ord("z") for letter in word)


def unless_in_gap(
    word: bytes, evidence: Value, legal: Next | None, unfit: str, no_word: str
) -> Verdict:
    """A legal move, with evidence under the condition that nobody signed the gap it shows.

    `unfit` is the rule that other evidence breaks, `no_word` the rule that the move then breaks.
    """
    match evidence:
        case b"":
            return Valid(legal)
        case (bytes(low), (bytes(high), b"")) if len(low) == len(high) == WORD_SIZE:
            if low < word < high:
                asked = to_list((int_to_atom(AGG_SIG_UNSAFE), SIGNER, gap_message(low, high)))
                return Valid(legal, (asked,), no_word)
        case _:
            pass
    return Raise(unfit)


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("guess", guess, Guessing.form),
    Validator("clue", clue, Answering.form),
)
