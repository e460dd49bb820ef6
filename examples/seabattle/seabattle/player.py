"""The player of sea battle: it hides a board, and chooses where to shoot."""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.games.contract import Forced, Initial, Moves, OneOf, PlainPlayer, Play, Seat, Terms
from seabattle.board import CELLS
from seabattle.states import Committing, Finishing, Joining, Showing, Turn
from seabattle.tree import LEAF, branch, root
from seabattle.validators import COMMIT_SIZE, due


def initial(terms: Terms) -> Initial:
    """The record of the first coin, which Alice's commitment spends."""
    return Initial("commit", Committing(), COMMIT_SIZE, 0)


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    """A player at the start of a game, with the board that it hides."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves, hidden=hidden)


def moves(player: PlainPlayer) -> Moves:
    """The choices: where to shoot is the only decision. A player that stops loses everything."""
    board, state = player.hidden["board"], player.position.state
    match state:
        case Joining():
            return {shoot(()): lambda shot: Play(root(board) + bytes((shot,)), 0)}
        case Turn(incoming=(index, *_), fired=fired):
            shown = answer(board, index)
            return {shoot(fired): lambda shot: Play(shown + bytes((shot,)), 0)}
        case Showing():
            return {Forced("show"): Play(board, 0)}
        case Finishing():
            return {Forced("show"): Play(board, due(board, state, player.terms.amount))}
        case _:
            return {Forced("commit"): Play(root(board), 0)}


def shoot(fired: tuple[int, ...]) -> OneOf:
    """The choice of a cell that the player has not shot at."""
    cells = tuple(cell for cell in range(CELLS) if cell not in fired)
    return OneOf("shoot", cells, "a cell from 0 to 15")


def answer(board: bytes, index: int) -> bytes:
    """The cell at an index with its salt, and its branch."""
    return board[index * LEAF : (index + 1) * LEAF] + branch(board, index)
