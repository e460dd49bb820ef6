"""Parity, the smallest game: Bob guesses whether Alice's secret is odd; the winner takes all.

Alice commits to a secret, Bob guesses, Alice reveals. Each of the three moves has a validator, here
as a Python function and beside this file as a Chialisp program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.choices import choose
from channelsim.games.contract import (
    Action,
    Choice,
    Forced,
    Game,
    Hashes,
    Initial,
    Next,
    Parameters,
    Plain,
    PlainPlayer,
    Play,
    Position,
    Seat,
    Settle,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
)
from channelsim.games.errors import BadTerms
from channelsim.games.reading import read_bytes, read_list

ODD, EVEN = b"\x01", b""

RULES = {
    "PARITY-TERMS-1": "A proposal has exactly the parameter `amount`, positive and even.",
    "PARITY-COMMIT-1": "Alice's commitment is 32 bytes.",
    "PARITY-GUESS-1": "Bob's guess is 1 (odd) or empty (even).",
    "PARITY-REVEAL-1": "Alice's secret is 16 bytes.",
    "PARITY-REVEAL-2": "The secret hashes to Alice's commitment.",
    "PARITY-REVEAL-3": "Bob's share is everything if his guess is right.",
}


@dataclass(frozen=True)
class Committing:
    """Alice's commitment is next. CLVM: `()`."""

    def value(self) -> Value:
        """The CLVM form."""
        return NIL


@dataclass(frozen=True)
class Guessing:
    """Bob's guess is next. CLVM: the atom `commit`, the hash of Alice's secret."""

    commit: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return self.commit


@dataclass(frozen=True)
class Revealing:
    """Alice's secret is next. CLVM: `(commit guess)`, Alice's commitment and Bob's guess."""

    commit: bytes
    guess: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return to_list((self.commit, self.guess))


ParityState: TypeAlias = Committing | Guessing | Revealing


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
    if move not in (ODD, EVEN):
        return Slash("PARITY-GUESS-1")
    return Valid(Next("reveal", Revealing(state.commit, move), 16))


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


def bobs_share(secret: bytes, guess: bytes, amount: int) -> int:
    """Everything for a right guess, nothing for a wrong one."""
    return amount if (ODD if secret[-1] & 1 else EVEN) == guess else 0


def read_revealing(value: Value) -> Revealing:
    """The state of `reveal` from its CLVM form. Raises `BadState`."""
    commit, guess = read_list(value, 2, "state of reveal")
    return Revealing(read_bytes(commit, "commit", 32), read_bytes(guess, "guess", len(guess)))


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    amount = parameters.get("amount")
    if set(parameters) != {"amount"} or type(amount) is not int or amount <= 0 or amount % 2:
        raise BadTerms("the only parameter is a positive and even amount (PARITY-TERMS-1)")
    return Terms("parity", amount, (amount // 2, amount // 2), 1, (("amount", amount),))


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("commit", Committing(), 32, 0)


@dataclass(frozen=True)
class ParityPlayer(PlainPlayer):
    """One seat; only Alice uses its secret."""

    seat: Seat
    position: Position
    terms: Terms
    secret: bytes

    def choices(self) -> tuple[Choice, ...]:
        """The guess is the only decision."""
        if self.position.mover is not self.seat:
            return ()
        match self.position.state:
            case Guessing():
                return (Plain("odd"), Plain("even"))
            case Committing():
                return (Forced("commit"),)
            case Revealing():
                return (Forced("reveal"),)
            case _:
                return (Forced("accept"),)

    def act(self, action: Action) -> Play | Settle:
        """The move for an action; until the reveal, a player that times out loses everything."""
        choose(self.choices(), action)
        match self.position.state:
            case Committing():
                return Play(sha256(self.secret).digest(), 0)
            case Guessing():
                return Play(ODD if action.verb == "odd" else EVEN, 0)
            case Revealing(guess=guess):
                return Play(self.secret, bobs_share(self.secret, guess, self.terms.amount))
            case _:
                return Settle()

    def moved(self, position: Position) -> ParityPlayer:
        """The player after a legal move."""
        return replace(self, position=position)


def player(seat: Seat, terms: Terms, entropy: bytes) -> ParityPlayer:
    """A player at the start of a game."""
    return ParityPlayer(seat, initial(terms).position, terms, entropy[:16])


PROGRAMS: dict[str, Program] = {}
for name in ("reveal", "guess", "commit"):  # the last first: each includes the hash of the next
    source = Path(__file__).parent / f"{name}.clsp"
    PROGRAMS[name] = compile_source(source, others=PROGRAMS).program

GAME = Game(
    name="parity",
    title="Parity: Bob guesses whether Alice's secret is odd",
    validators=by_name(
        Validator("commit", commit, lambda value: Committing()),
        Validator("guess", guess, lambda value: Guessing(read_bytes(value, "commit", 32))),
        Validator("reveal", reveal, read_revealing),
    ),
    programs=PROGRAMS,
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=16,
)
