"""The rules: the states of a hand, and a validator in Python for each move.

Every validator exists a second time, as the Chialisp program of the same name beside this file.
Four moves make a hand: Alice commits, Bob commits, Alice reveals, Bob reveals.

Each move declares what the opponent gets if it never answers, and no rule demands more than
nothing before the end. So a player who has lost gains nothing by withholding its secret.

Bob could commit to the same hash as Alice, and reveal what she revealed. The sum would be even:
that is why an even sum wins for Alice.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated

from channelsim.clsp.values import Value
from channelsim.games.contract import (
    Bytes32,
    Hashes,
    Initial,
    Integer,
    Next,
    Parameters,
    PlainState,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)

RULES = {
    "NEWGAME-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "NEWGAME-COMMIT-1": "Alice's commitment is 32 bytes.",
    "NEWGAME-ANSWER-1": "Bob's commitment is 32 bytes.",
    "NEWGAME-REVEAL-1": "Alice's secret is 16 bytes.",
    "NEWGAME-REVEAL-2": "Alice's secret hashes to her commitment.",
    "NEWGAME-END-1": "Bob's secret is 16 bytes.",
    "NEWGAME-END-2": "Bob's secret hashes to his commitment.",
    "NEWGAME-END-3": "Alice's share is everything if the sum is even.",
}


class Committing(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class Answering(PlainState, frozen=True):
    """Bob's commitment is next. CLVM: the atom `alice`, her commitment."""

    alice: Bytes32


class Revealing(PlainState, frozen=True):
    """Alice's secret is next. CLVM: `(alice bob)`, both commitments."""

    alice: Bytes32
    bob: Bytes32


class Ending(PlainState, frozen=True):
    """Bob's secret is next. CLVM: `(bob odd)`, his commitment, and whether her number is odd."""

    bob: Bytes32
    odd: Annotated[int, Integer(0, 1)]


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the hash of her secret."""
    if len(move) != 32:
        return Slash("NEWGAME-COMMIT-1")
    return Valid(Next("answer", Answering(move), 32))


def answer(
    state: Answering, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob commits. MOVE is the hash of his secret."""
    if len(move) != 32:
        return Slash("NEWGAME-ANSWER-1")
    return Valid(Next("reveal", Revealing(state.alice, move), 16))


def reveal(
    state: Revealing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice reveals. MOVE is her secret; its last byte is her number."""
    if len(move) != 16:
        return Slash("NEWGAME-REVEAL-1")
    if sha256(move).digest() != state.alice:
        return Slash("NEWGAME-REVEAL-2")
    return Valid(Next("end", Ending(state.bob, move[-1] & 1), 16))


def end(
    state: Ending, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob reveals, which ends the hand. MOVE is his secret, the share is Alice's."""
    if len(move) != 16:
        return Slash("NEWGAME-END-1")
    if sha256(move).digest() != state.bob:
        return Slash("NEWGAME-END-2")
    if share < alices_share(state.odd, move, amount):
        return Slash("NEWGAME-END-3")
    return Valid(None)


def alices_share(odd: int, secret: bytes, amount: int) -> int:
    """Everything if Alice's number, odd or not, and the one in Bob's secret have an even sum."""
    return amount if secret[-1] & 1 == odd else 0


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("answer", answer, Answering.form),
    Validator("reveal", reveal, Revealing.form),
    Validator("end", end, Ending.form),
)


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("newgame", parameters, "NEWGAME-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin, which Alice's commitment spends."""
    return Initial("commit", Committing(), 32, 0)
