"""The states of the three validators; `read` takes the CLVM form."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from channelsim.clsp.values import Value
from channelsim.games.contract import Atom, Bytes32, HashOf, Opaque, PlainState
from channelsim.games.errors import BadState
from wordle.marks import PAIR

GUESSES = 5
"""Bob's guesses in one game."""

LONGEST = (GUESSES - 1) * PAIR
"""The bytes of the longest history: after the last guess Alice gives no clue."""


def _read_history(value: Value, name: str) -> bytes:
    if not isinstance(value, bytes) or len(value) % PAIR or len(value) > LONGEST:
        raise BadState(f"{name}: not an atom of up to {GUESSES - 1} guesses and clues")
    return value


History: TypeAlias = Annotated[
    bytes,
    Opaque(
        bytes,
        _read_history,
        f"up to {GUESSES - 1} guesses and clues",
        tuple(bytes(range(size)) for size in range(0, LONGEST + 1, PAIR)),
    ),
]
"""The guesses and clues so far, ten bytes for each pair."""


class Committing(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class Guessing(PlainState, frozen=True):
    """Bob's guess is next. CLVM: `(commit history)`, the hash of Alice's word and salt first."""

    commit: Bytes32
    history: History


class Answering(PlainState, frozen=True):
    """Alice's clue or her word is next. CLVM: `(commit history guess guess_hash)`.

    `guess_hash` is the hash of the program guess, which the program clue leads back to.
    """

    commit: Bytes32
    history: History
    guess: Annotated[bytes, Atom(5)]
    guess_hash: Annotated[bytes, HashOf("guess")]
