"""Where two symbolic results differ."""

from __future__ import annotations

import z3

from channelsim.channel.prove.executor import Ending, RaisedHere, Returned
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition, Hidden, Lazy, Symbolic, equal
from channelsim.channel.prove.undecided_lengths import same_as_number


def difference(path: Path, left: Ending, right: Ending) -> Condition:
    """Where two programs end differently. Raises `Undecided`."""
    match left, right:
        case RaisedHere(), RaisedHere():
            return False
        case Returned(mine), Returned(theirs):
            return unequal(path, mine, theirs)
    return True


def unequal(path: Path, left: Symbolic, right: Symbolic) -> Condition:
    """Where two values differ, atom by atom. Raises `Undecided`."""
    differing: list[Condition] = []
    waiting = [(left, right)]
    while waiting:
        mine, theirs = waiting.pop()
        if mine is theirs:
            continue
        if isinstance(mine, Hidden) and isinstance(theirs, Hidden) and mine.name == theirs.name:
            continue
        if isinstance(mine, Lazy) and isinstance(theirs, Lazy) and mine.name == theirs.name:
            continue
        mine, theirs = path.shape(mine), path.shape(theirs)
        if isinstance(mine, tuple) and isinstance(theirs, tuple):
            waiting += zip(mine, theirs, strict=True)
            continue
        if isinstance(mine, tuple) or isinstance(theirs, tuple):
            return True
        same = same_as_number(path, mine, theirs)
        if same is None:
            same = equal(path.atom(mine), path.atom(theirs))
        if same is False:
            return True
        if same is not True:
            differing.append(z3.Not(same))
    return z3.Or(*differing) if differing else False
