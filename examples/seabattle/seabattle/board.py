"""A board: sixteen cells, and what a player may hide behind its root, legal or not."""

from __future__ import annotations

from collections.abc import Iterable

from channelsim.games.chance import Chance
from seabattle.tree import LEAF

CELLS = 16
"""The cells of a board, in four rows of four."""

SHIPS = 4
"""The cells of a legal board that hold a ship."""

BOARD = CELLS * LEAF
"""The bytes of a board: each cell, 1 for a ship and 0 for water, is followed by its salt."""


def cells(board: bytes) -> bytes:
    """The cells of a board without their salts."""
    return board[::LEAF]


def hits(board: bytes, shots: Iterable[int]) -> int:
    """The number of these shots that hit a ship."""
    return sum(cells(board)[shot] for shot in shots)


def legal(chance: Chance) -> bytes:
    """Draw a board with exactly four ships."""
    ships = chance.draw(range(CELLS), SHIPS)
    return _salted(bytes(index in ships for index in range(CELLS)), chance)


def possible(chance: Chance, board: bytes) -> bytes:
    """Draw any board: half of the time this one with another cell, else any cells at all,
    or four ships of which some share a cell."""
    if chance.chance(50):
        index = chance.below(CELLS) * LEAF
        cell, any_byte = board[index], chance.below(256)
        other = chance.pick([byte for byte in (0, 1, 0, 1, any_byte) if byte != cell])
        return board[:index] + bytes((other,)) + board[index + 1 :]
    highest = chance.pick((1, 1, 255))
    if highest > 1 and chance.chance(50):
        ships = [chance.below(CELLS) for _ in range(SHIPS)]  # some may share a cell
        return _salted(bytes(map(ships.count, range(CELLS))), chance)
    return _salted(bytes(chance.between(0, highest) for _ in range(CELLS)), chance)


def _salted(cells: bytes, chance: Chance) -> bytes:
    """These cells, each with a salt of its own."""
    return b"".join(bytes((cell,)) + chance.bytes(LEAF - 1) for cell in cells)
