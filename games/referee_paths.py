"""What the referee says of any solution at all: which path it picks, and what that asks for.

Each path's rules are in `games.referee`, for values that have the right shape; here is what it
makes of those that do not.
"""

from __future__ import annotations

from collections.abc import Callable

from clsp.integers import atom_to_int, is_minimal
from clsp.programs import Program
from clsp.values import NIL, Value, serialize
from games.referee import (
    GameCoin,
    RefereeRefusal,
    move_conditions,
    slash_conditions,
    timeout_conditions,
)

TIMEOUT, MOVE, SLASH = "timeout", "move", "slash"

Run = Callable[[Value, Value, Value], Value]
"""Given a validator, a state and evidence: what the validator returns of the coin's MOVE.

Raises `ValidatorRaised`. It is asked only about what is behind the coin's INFOHASH_A.
"""


class ValidatorRaised(Exception):
    """The previous validator raises, which fails the slash."""


def path_of(solution: Value) -> str:
    """The path that a solution picks; TIMEOUT too where the referee raises before it picks any.

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
    """What the referee of `coin` asks for. Raises `RefereeRefusal`, or `ValidatorRaised`."""
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
    # Asked with no result at first: what is not behind INFOHASH_A is refused, and never run.
    slash_conditions(coin, state, program, NIL, address)
    return slash_conditions(coin, state, program, run(validator, state, evidence), address)
