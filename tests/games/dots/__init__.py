"""Dots, a game for tests: Alice hides a board of four cells with two dots, and Bob marks a cell.

The board is a hidden value, and the cell a decision that Bob's player remembers. Both commit to
what they hide; then Alice shows her board, and Bob opens his cell.
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
from channelsim.clsp.values import Value
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    Atom,
    Bytes32,
    Forced,
    Game,
    Hashes,
    Hidden,
    Initial,
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
    "DOTS-MARK-1": "Bob's commitment is 32 bytes.",
    "DOTS-SHOW-1": "Alice shows 20 bytes, which hash to her commitment.",
    "DOTS-SHOW-2": "Alice's board has two dots: four bytes, each 0 or 1, whose sum is 2.",
    "DOTS-OPEN-1": "Bob opens 17 bytes, which hash to his commitment.",
    "DOTS-OPEN-2": "Bob's cell, the last byte, is one of four, from 0.",
    "DOTS-OPEN-3": "Alice's share is everything unless there is a dot in his cell.",
}


class Committing(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class Marking(PlainState, frozen=True):
    """Bob's commitment is next. CLVM: the atom `commit`, Alice's."""

    commit: Bytes32


class Showing(PlainState, frozen=True):
    """Alice's board is next. CLVM: `(commit mark)`."""

    commit: Bytes32
    mark: Bytes32


class Opening(PlainState, frozen=True):
    """Bob's cell is next. CLVM: `(mark board)`."""

    mark: Bytes32
    board: Annotated[bytes, Atom(CELLS)]


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != 32:
        return Slash("DOTS-COMMIT-1")
    return Valid(Next("mark", Marking(move), 32))


def mark(
    state: Marking, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != 32:
        return Slash("DOTS-MARK-1")
    return Valid(Next("show", Showing(state.commit, move), SALT + CELLS))


def show(
    state: Showing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != SALT + CELLS or sha256(move).digest() != state.commit:
        return Slash("DOTS-SHOW-1")
    if move[SALT:] not in LEGAL:
        return Slash("DOTS-SHOW-2")
    return Valid(Next("open", Opening(state.mark, move[SALT:]), SALT + 1))


def open_cell(
    state: Opening, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != SALT + 1 or sha256(move).digest() != state.mark:
        return Slash("DOTS-OPEN-1")
    if move[SALT] >= CELLS:
        return Slash("DOTS-OPEN-2")
    if share < (0 if state.board[move[SALT]] == 1 else amount):
        return Slash("DOTS-OPEN-3")
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
        case Marking():
            cells = OneOf("mark", tuple(range(CELLS)), "a cell, from 0")
            return {cells: lambda cell: _marked(player.secret, bytes([cell]))}
        case Showing():
            return {Forced("show"): Play(player.secret + player.hidden["board"], 0)}
        case Opening(board=board):
            hit = board[player.memory[0]] == 1
            share = 0 if hit else player.terms.amount
            return {Forced("open"): Play(player.secret + player.memory, share)}
        case _:
            board = player.hidden["board"]
            return {Forced("commit"): Play(sha256(player.secret + board).digest(), 0)}


def _marked(secret: bytes, cell: bytes) -> Play:
    return Play(sha256(secret + cell).digest(), 0, memory=cell)


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    position = initial(terms).position
    return PlainPlayer(seat, terms, position, entropy[:SALT], moves, hidden=hidden)


def terms(parameters: Parameters) -> Terms:
    return even_terms("dots", parameters, "DOTS-TERMS-1")


def initial(terms: Terms) -> Initial:
    return Initial("commit", Committing(), 32, 0)


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("mark", mark, Marking.form),
    Validator("show", show, Showing.form),
    Validator("open", open_cell, Opening.form),
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
