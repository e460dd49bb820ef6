"""Where two symbolic results differ."""

from __future__ import annotations

import z3

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.executor import Ending, RaisedHere, Returned
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition, Hidden, Lazy, Number, Symbolic, equal


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
        same = _same(path, mine, theirs)
        if same is False:
            return True
        if same is not True:
            differing.append(z3.Not(same))
    return z3.Or(*differing) if differing else False


def _same(path: Path, left: Symbolic, right: Symbolic) -> Condition:
    """Where two atoms are the same; a long one and a number need no length for that."""
    for long, other in ((left, right), (right, left)):
        if not (isinstance(other, Number) and isinstance(long, Lazy) and path.is_long(long)):
            continue
        if long_atoms.has_number(long):
            number = path.number(long)  # decides whether it is in the fewest bytes
            return path.branch(long_atoms.is_minimal(long)) and equal(number, other)
    return equal(path.atom(left), path.atom(right))
