"""The referee's answer to any solution: the path that it picks, and the conditions of that path.

The rules of each path are in `games.referee`, for values of the right shape. This module adds the
refusals of all other values.
"""

from __future__ import annotations

from collections.abc import Callable

from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, atom_to_int, is_minimal, serialize
from channelsim.games.referee import (
    GameCoin,
    RefereeRefusal,
    move_conditions,
    slash_conditions,
    timeout_conditions,
)

TIMEOUT, MOVE, SLASH = "timeout", "move", "slash"

Run = Callable[[Value, Value, Value], Value]
"""Runs a validator with a state and evidence on the coin's MOVE, and returns its result.

Raises `ValidatorRaised`. Called only with the validator and state of the coin's INFOHASH_A.
"""


class ValidatorRaised(Exception):
    """The validator raises, so the slash fails."""


def path_of(solution: Value) -> str:
    """The path that a solution picks; TIMEOUT also if the referee raises before it picks one.

    >>> path_of(NIL), path_of((b"a", (b"b", (b"c", NIL)))), path_of((b"a", (NIL, NIL)))
    ('timeout', 'move', 'timeout')
    """
    match solution:
        case (_, (_, b"")):
            return TIMEOUT
        case (_, (second, _)):
            return SLASH if isinstance(second, tuple) else MOVE
        case _:
            return TIMEOUT


def conditions_of(coin: GameCoin, solution: Value, run: Run) -> Value:
    """The conditions of the referee of `coin`. Raises `RefereeRefusal` or `ValidatorRaised`."""
    path = path_of(solution)
    if path == SLASH:
        return _slash(coin, solution, run)
    if path == MOVE:
        return move_conditions(coin, moved(coin, solution))
    return timeout_conditions(coin, solution)


def moved(coin: GameCoin, solution: Value) -> GameCoin:
    """The coin that a move's solution makes. Raises `RefereeRefusal`."""
    match solution:
        case (move, (bytes(commitment), (share, (size, b"")))):
            pass
        case _:
            raise RefereeRefusal("REF-MOVE-1")
    if not isinstance(move, bytes):
        raise RefereeRefusal("REF-MOVE-3")
    if not isinstance(share, bytes):
        raise RefereeRefusal("REF-MOVE-4")
    if not isinstance(size, bytes) or len(size) > 2:
        raise RefereeRefusal("REF-MOVE-6")
    after = coin.after(move, commitment, atom_to_int(share), atom_to_int(size))
    if not is_minimal(share):
        raise RefereeRefusal("REF-MOVE-5")
    if not is_minimal(size):
        raise RefereeRefusal("REF-MOVE-8")
    return after


def _slash(coin: GameCoin, solution: Value, run: Run) -> Value:
    match solution:
        case (state, (validator, (evidence, (address, b"")))):
            pass
        case _:
            raise RefereeRefusal("REF-SLASH-1")
    if not isinstance(address, bytes):
        raise RefereeRefusal("REF-SLASH-8")
    program = Program(serialize(validator))
    # Called without a result first: a validator that is not that of INFOHASH_A is refused, not run.
    slash_conditions(coin, state, program, NIL, address)
    return slash_conditions(coin, state, program, run(validator, state, evidence), address)
