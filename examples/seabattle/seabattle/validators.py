"""The rules of sea battle. The same rules as programs are the `.clsp` files beside this one.

No judge reads evidence: a move shows all that it takes to judge it.
"""

from __future__ import annotations

from channelsim.clsp.values import Value
from channelsim.games.contract import (
    Hashes,
    Next,
    Slash,
    Valid,
    Validator,
    Verdict,
    by_name,
)
from seabattle.board import BOARD, CELLS, SHIPS, cells, hits
from seabattle.states import SHOTS, Committing, Finishing, Joining, Showing, Turn
from seabattle.tree import HASH, LEAF, climb, leaf, root

RULES = {
    "SEABATTLE-TERMS-1": "A proposal has only the parameter `amount`: positive, even, below 2^63.",
    "SEABATTLE-COMMIT-1": "The root of Alice's board is 32 bytes.",
    "SEABATTLE-JOIN-1": "Bob sends the root of his board and a shot, 33 bytes.",
    "SEABATTLE-JOIN-2": "The shot is at one of the sixteen cells.",
    "SEABATTLE-TURN-1": "A turn is 146 bytes: a cell, its salt, its branch of four hashes, a shot.",
    "SEABATTLE-TURN-2": "The branch leads from the cell that was shot at to the player's root.",
    "SEABATTLE-TURN-3": "The shot is at one of the sixteen cells.",
    "SEABATTLE-TURN-4": "The player has not shot at this cell before.",
    "SEABATTLE-BOARD-1": "A board is 272 bytes: sixteen cells, each with its salt.",
    "SEABATTLE-BOARD-2": "The board has the root that its player sent.",
    "SEABATTLE-BOARD-3": "Every cell is 1, a ship, or 0, water.",
    "SEABATTLE-BOARD-4": "Exactly four cells are ships.",
    "SEABATTLE-FINISH-1": "Bob's share is everything for more hits than Alice's, half for as many.",
}

COMMIT_SIZE = HASH
JOIN_SIZE = HASH + 1
TURN_SIZE = LEAF + 4 * HASH + 1


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the root of her board."""
    if len(move) != COMMIT_SIZE:
        return Slash("SEABATTLE-COMMIT-1")
    return Valid(Next("join", Joining(move), JOIN_SIZE))


def join(
    state: Joining, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob commits and shoots. MOVE is the root of his board and a cell."""
    if len(move) != JOIN_SIZE:
        return Slash("SEABATTLE-JOIN-1")
    bob, shot = move[:HASH], move[HASH]
    if shot >= CELLS:
        return Slash("SEABATTLE-JOIN-2")
    return Valid(Next("turn", Turn(state.alice, bob, (), (shot,)), TURN_SIZE))


def turn(
    state: Turn, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """A player answers and shoots. MOVE is a cell with its salt, its branch, and another cell."""
    if len(move) != TURN_SIZE:
        return Slash("SEABATTLE-TURN-1")
    cell, branch, shot = move[:LEAF], move[LEAF:-1], move[-1]
    if climb(leaf(cell), state.incoming[0], branch) != state.ours:
        return Slash("SEABATTLE-TURN-2")
    if shot >= CELLS:
        return Slash("SEABATTLE-TURN-3")
    if shot in state.fired:
        return Slash("SEABATTLE-TURN-4")
    fired = (shot, *state.fired)
    if len(state.incoming) == SHOTS:
        return Valid(Next("show", Showing(state.theirs, state.ours, state.incoming, fired), BOARD))
    return Valid(Next("turn", Turn(state.theirs, state.ours, state.incoming, fired), TURN_SIZE))


def show(
    state: Showing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob shows his board, which also answers Alice's last shot."""
    if rule := broken(move, state.ours):
        return Slash(rule)
    scored = hits(move, state.incoming)
    return Valid(Next("finish", Finishing(state.theirs, state.fired, scored), BOARD))


def finish(
    state: Finishing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice shows her board, which ends the game. The share is Bob's."""
    if rule := broken(move, state.alice):
        return Slash(rule)
    if share < due(move, state, amount):
        return Slash("SEABATTLE-FINISH-1")
    return Valid(None)


def broken(board: bytes, committed: bytes) -> str:
    """The rule that a board breaks, given the root that its player sent; empty for none."""
    if len(board) != BOARD:
        return "SEABATTLE-BOARD-1"
    if root(board) != committed:
        return "SEABATTLE-BOARD-2"
    if max(cells(board)) > 1:
        return "SEABATTLE-BOARD-3"
    return "" if sum(cells(board)) == SHIPS else "SEABATTLE-BOARD-4"


def due(board: bytes, state: Finishing, amount: int) -> int:
    """Bob's share in mojos, given Alice's board."""
    scored = hits(board, state.incoming)
    if scored == state.scored:
        return amount // 2
    return amount if scored > state.scored else 0


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("join", join, Joining.form),
    Validator("turn", turn, Turn.form),
    Validator("show", show, Showing.form),
    Validator("finish", finish, Finishing.form),
)
