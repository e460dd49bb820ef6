"""Dots, a game for tests: Alice hides a board of four cells with two dots, and Bob guesses a cell.

The board is a hidden value. Alice commits to it, Bob guesses, and Alice shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Annotated

import pytest

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    Bytes32,
    Forced,
    Game,
    Hashes,
    Hidden,
    Initial,
    Integer,
    Moves,
    Next,
    OneOf,
    Parameters,
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

CELLS, SALT = 4, 16
BOARDS = tuple(map(bytes, product((0, 1), repeat=CELLS)))
LEGAL = tuple(board for board in BOARDS if sum(board) == 2)

RULES = {
    "DOTS-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "DOTS-COMMIT-1": "Alice's commitment is 32 bytes.",
    "DOTS-GUESS-1": "Bob's guess is one of the four cells, from 0.",
    "DOTS-SHOW-1": "Alice shows 20 bytes, which hash to her commitment.",
    "DOTS-SHOW-2": "Alice's board has two dots: four bytes, each 0 or 1, whose sum is 2.",
    "DOTS-SHOW-3": "Bob's share is everything if there is a dot in his cell.",
}


class Committing(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class Guessing(PlainState, frozen=True):
    """Bob's guess is next. CLVM: the atom `commit`."""

    commit: Bytes32


class Showing(PlainState, frozen=True):
    """Alice's board is next. CLVM: `(commit cell)`."""

    commit: Bytes32
    cell: Annotated[int, Integer(0, CELLS - 1)]


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != 32:
        return Slash("DOTS-COMMIT-1")
    return Valid(Next("guess", Guessing(move), 1))


def guess(
    state: Guessing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if move not in map(int_to_atom, range(CELLS)):
        return Slash("DOTS-GUESS-1")
    return Valid(Next("show", Showing(state.commit, sum(move)), SALT + CELLS))


def show(
    state: Showing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != SALT + CELLS or sha256(move).digest() != state.commit:
        return Slash("DOTS-SHOW-1")
    if move[SALT:] not in LEGAL:
        return Slash("DOTS-SHOW-2")
    if share < (amount if move[SALT + state.cell] else 0):
        return Slash("DOTS-SHOW-3")
    return Valid(None)


def legal(chance: Chance) -> bytes:
    return chance.pick(LEGAL)


def possible(chance: Chance, board: bytes) -> bytes:
    """A board with one dot more or less, or any bytes."""
    if chance.chance(50):
        cell = chance.below(CELLS)
        return board[:cell] + bytes([1 - board[cell]]) + board[cell + 1 :]
    return chance.bytes(CELLS)


def moves(player: PlainPlayer) -> Moves:
    match player.position.state:
        case Guessing():
            cells = OneOf("guess", tuple(range(CELLS)), "a cell, from 0")
            return {cells: lambda cell: Play(int_to_atom(cell), 0)}
        case Showing(cell=cell):
            board = player.hidden["board"]
            share = player.terms.amount if board[cell] else 0
            return {Forced("show"): Play(player.secret + board, share)}
        case _:
            board = player.hidden["board"]
            return {Forced("commit"): Play(sha256(player.secret + board).digest(), 0)}


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    position = initial(terms).position
    return PlainPlayer(seat, terms, position, entropy[:SALT], moves, hidden=hidden)


def terms(parameters: Parameters) -> Terms:
    return even_terms("dots", parameters, "DOTS-TERMS-1")


def initial(terms: Terms) -> Initial:
    return Initial("commit", Committing(), 32, 0)


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("guess", guess, Guessing.form),
    Validator("show", show, Showing.form),
)

GAME = Game(
    name="dots",
    title="Dots: Bob looks for one of Alice's two dots",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    total=True,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=SALT,
    hidden=(Hidden("board", legal, possible, (Seat.ALICE,)),),
)


@contextmanager
def registered(game: Game = GAME) -> Iterator[None]:
    """Let the registry know this game, or a variant of it."""
    get, names = registry.get, registry.names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "get", lambda name: game if name == game.name else get(name))
        patch.setattr(registry, "names", lambda: (*names(), game.name))
        yield
