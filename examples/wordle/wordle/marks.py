"""Marks of a guess: how Alice answers it, and what Bob learns from the answers."""

from __future__ import annotations

from collections.abc import Iterator

PLACED, ELSEWHERE, ABSENT = b"=", b"~", b"."

ALL_PLACED = PLACED * 5

PAIR = 10
"""The bytes of a guess and its clue in a history."""


def marks(guess: bytes, word: bytes) -> bytes:
    """The marks of a guess: a letter of the word answers for one letter of the guess only.

    >>> marks(b"level", b"eagle")
    b'~~.~.'
    >>> marks(b"eagle", b"eagle")
    b'====='
    """
    pairs = list(zip(guess, word, strict=True))
    unused = [theirs for mine, theirs in pairs if mine != theirs]
    clue = b""
    for mine, theirs in pairs:
        if mine == theirs:
            clue += PLACED
        elif mine in unused:
            unused.remove(mine)
            clue += ELSEWHERE
        else:
            clue += ABSENT
    return clue


def rounds(history: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The guesses of a history with their clues.

    >>> list(rounds(b"level~~.~."))
    [(b'level', b'~~.~.')]
    """
    for at in range(0, len(history), PAIR):
        yield history[at : at + 5], history[at + 5 : at + PAIR]


def fits(word: bytes, history: bytes) -> bool:
    """True if all clues of a history are true of this word."""
    return all(marks(guess, word) == clue for guess, clue in rounds(history))
