"""Places of parts in the arguments of a validator, symbolic ones or constants."""

from __future__ import annotations

from typing import Any, TypeAlias

from channelsim.channel.prove.symbols import Lazy

Steps: TypeAlias = tuple[int, ...]
"""The place of a part: 0 for the left side of a pair, 1 for the right one."""

OWN_HASH: Steps = (0,)
COIN: Steps = (1, 0)
STATE: Steps = (1, 1, 0)
OWN_PROGRAM: Steps = (1, 1, 1, 0)
EVIDENCE: Steps = (1, 1, 1, 1, 0)
ADDRESS: Steps = (1, 1, 1, 1, 1, 0)
MORE: Steps = (1, 1, 1, 1, 1, 1)
"""The inputs behind the arguments, of a claim that has inputs of its own."""
AMOUNT, MOVE, LIMIT, NEXT, SHARE, JUDGING = 3, 6, 7, 8, 9, 10
"""The places of these in the fields of a coin."""


def coin_field(number: int) -> Steps:
    """The place of a field of the coin."""
    return (*COIN, *[1] * number, 0)


def part(value: Any, steps: Steps) -> Any:
    """The part at a place."""
    for step in steps:
        value = value[step]
    return value


def replaced(value: Any, steps: Steps, new: Any) -> Any:
    """The value with another part at a place."""
    if not steps:
        return new
    left, right = value
    if steps[0]:
        return left, replaced(right, steps[1:], new)
    return replaced(left, steps[1:], new), right


def len_of(move: Any) -> int:
    """The bytes of a move, symbolic or not; of a range of sizes, the least."""
    if isinstance(move, Lazy):
        assert move.long is not None
        return move.long.least
    return len(move) if isinstance(move, bytes) else int(move.size)
