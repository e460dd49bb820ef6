"""What a referee makes of a validator's result: of a symbolic one on a path, or of a real run.

Source: spec/referee.md, "Slash".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from channelsim.channel.prove.equality import unequal
from channelsim.channel.prove.executor import Ending, RaisedHere, Returned, Unknown
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition, Lazy, Symbolic, Undecided
from channelsim.clsp.run import Outcome, ProgramSlash, ProgramValid
from channelsim.clsp.values import NIL


@dataclass(frozen=True, slots=True)
class Leads:
    """The move is legal, and leads to this record; `ends`: to none, as the game is over.

    `conditions` are what follows the record: a slash that meets them pays.
    """

    program: Symbolic
    state: Symbolic
    size: Symbolic
    conditions: Symbolic
    ends: bool

    @property
    def record(self) -> Symbolic:
        """The parts that the coin commits to."""
        return (NIL, self.size) if self.ends else (self.program, (self.state, self.size))


@dataclass(frozen=True, slots=True)
class Slashes:
    """The slash pays, whatever the coin commits to."""


@dataclass(frozen=True, slots=True)
class Fails:
    """The slash fails, whatever the coin commits to: the validator raises, or its result makes the
    referee raise."""


Judged: TypeAlias = Leads | Slashes | Fails
"""Every way in which a slash can end."""


def judged(path: Path, ending: Ending) -> Judged:
    """What the referee makes of an ending, by forks where that depends. Raises `Undecided`."""
    match ending:
        case Unknown(reason):
            raise Undecided(reason)
        case RaisedHere():
            return Fails()
        case Returned(value):
            return _of_result(path, value)


def judged_really(outcome: Outcome) -> Judged:
    """What the referee makes of a real run; one that is cut off fails."""
    return judged(Path(None, (), inf), real_ending(outcome))


def real_ending(outcome: Outcome) -> Ending:
    """A real run as an ending; one that is cut off counts as a raise."""
    match outcome:
        case ProgramSlash():
            return Returned(NIL)
        case ProgramValid(value):
            return Returned(value)
        case _:
            return RaisedHere()


def other_record(path: Path, left: Leads, right: Leads) -> Condition:
    """Where two results lead to different records. Raises `Undecided`."""
    return unequal(path, left.record, right.record)


def is_legal(ended: Judged) -> bool:
    """True if a move is legal, perhaps under conditions."""
    return isinstance(ended, Leads)


def not_slashed(ended: Judged) -> bool:
    """True if the slash does not pay by itself."""
    return not isinstance(ended, Slashes)


def legal_with_all(endings: Iterable[Judged]) -> bool:
    """True if no evidence slashes a move, and the program takes it with some."""
    ended = list(endings)
    return all(map(not_slashed, ended)) and any(map(is_legal, ended))


def _of_result(path: Path, value: Symbolic) -> Judged:
    value = path.shape(value)
    if not isinstance(value, tuple):
        return Fails() if path.branch(path.truth(value)) else Slashes()
    program, rest = path.shape(value[0]), value[1]
    state, rest = _item(path, rest)
    size, rest = _item(path, rest)
    if isinstance(program, tuple) or isinstance(path.shape(size), tuple):
        return Fails()
    if isinstance(program, Lazy):
        program = path.atom(program)
    ends = not path.branch(path.truth(program))
    return Leads(program, state, size, rest, ends)


def _item(path: Path, items: Symbolic) -> tuple[Symbolic, Symbolic]:
    """The first item of a list and the rest; absent ones are `()`."""
    shape = path.shape(items)
    return shape if isinstance(shape, tuple) else (NIL, NIL)
