"""Extra conditions of a result that protect a legal move: those that evidence alone cannot meet."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Symbolic
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE

ASSUMED = "nobody has signed extra conditions of a legal move by a key that is in the program"

SIGNATURES = frozenset((bytes([AGG_SIG_ME]), bytes([AGG_SIG_UNSAFE])))


def unguarded(path: Path, conditions: Symbolic, chosen: Collection[bytes] = ()) -> bool:
    """True if there are conditions, and none of them needs a signature by a known key.

    A key that is not the same on every input is not known, nor one of the `chosen` atoms.
    """
    items = 0
    rest: Any = path.shape(conditions)
    while isinstance(rest, tuple):
        item, rest = path.shape(rest[0]), path.shape(rest[1])
        items += 1
        if not isinstance(item, tuple) or path.shape(item[0]) not in SIGNATURES:
            continue
        operands = path.shape(item[1])
        key = path.shape(operands[0]) if isinstance(operands, tuple) else None
        if isinstance(key, bytes) and key not in chosen:
            return False
    return items > 0
