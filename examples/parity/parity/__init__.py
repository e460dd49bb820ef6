"""Parity, a small game: Bob guesses whether Alice's secret is odd; the winner takes all.

Alice commits to a secret, Bob guesses, Alice reveals. Each of the three moves has a validator, here
as a Python function and beside this file as a Chialisp program.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.contract import (
    Bytes32,
    Forced,
    Game,
    Hashes,
    Initial,
    Integer,
    Moves,
    Next,
    Parameters,
    Plain,
    PlainPlayer,
    PlainState,
    Play,
    Seat,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)

RULES = {
    "PARITY-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "PARITY-COMMIT-1": "Alice's commitment is 32 bytes.",
    "PARITY-GUESS-1": "Bob's guess is 1 (odd) or empty (even).",
    "PARITY-REVEAL-1": "Alice's secret is 16 bytes.",
    "PARITY-REVEAL-2": "The secret hashes to Alice's commitment.",
    "PARITY-REVEAL-3": "Bob's share is everything if his guess is right.",
}


class Committing(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class Guessing(PlainState, frozen=True):
    """Bob's guess is next. CLVM: the atom `commit`, the hash of Alice's secret."""

    commit: Bytes32


class Revealing(PlainState, frozen=True):
    """Alice's secret is next. CLVM: `(commit guess)`; Bob's guess is 1 for odd, 0 for even."""

    commit: Bytes32
    guess: Annotated[int, Integer(0, 1)]


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the hash of her secret."""
    if len(move) != 32:
        return Slash("PARITY-COMMIT-1")
    return Valid(Next("guess", Guessing(move), 1))


def guess(
    state: Guessing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob guesses. MOVE is 1 for odd, empty for even."""
    if move not in (b"", b"\x01"):
        return Slash("PARITY-GUESS-1")
    return Valid(Next("reveal", Revealing(state.commit, len(move)), 16))


def reveal(
    state: Revealing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice reveals. MOVE is her secret, the share is Bob's. It ends the game."""
    if len(move) != 16:
        return Slash("PARITY-REVEAL-1")
    if sha256(move).digest() != state.commit:
        return Slash("PARITY-REVEAL-2")
    if share < bobs_share(move, state.guess, amount):
        return Slash("PARITY-REVEAL-3")
    return Valid(None)


def bobs_share(secret: bytes, guess: int, amount: int) -> int:
    """Everything for a right guess, nothing for a wrong one."""
    return amount if secret[-1] & 1 == guess else 0


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("parity", parameters, "PARITY-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("commit", Committing(), 32, 0)


def moves(player: PlainPlayer) -> Moves:
    """The choices; the guess is the only decision. Until the reveal, a timeout loses everything."""
    match player.position.state:
        case Guessing():
            return {Plain("odd"): Play(int_to_atom(1), 0), Plain("even"): Play(int_to_atom(0), 0)}
        case Revealing(guess=guess):
            share = bobs_share(player.secret, guess, player.terms.amount)
            return {Forced("reveal"): Play(player.secret, share)}
        case _:
            return {Forced("commit"): Play(sha256(player.secret).digest(), 0)}


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player at the start of a game; only Alice uses its secret."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy[:16], moves)


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("guess", guess, Guessing.form),
    Validator("reveal", reveal, Revealing.form),
)

GAME = Game(
    name="parity",
    title="Parity: Bob guesses whether Alice's secret is odd",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    total=True,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=16,
)
