"""The solver, its limits, and all values that a number can have at its conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import z3

from channelsim.channel.prove.symbols import Number, Term, Undecided

STEPS = 30_000_000
"""The most steps of the solver on one question, about ten seconds of work: the same ones on any
machine, however busy."""

CHECK_SECONDS = 100.0
"""The longest that it works on one, in case that it takes long steps."""

MEGABYTES = 2000
"""The memory in which the solver works on it."""

MOST_VALUES = 64
"""The most values of a number that are tried one by one."""

LATE = "the time is over"
HARD = "too hard for the solver"


@contextmanager
def pushed(solver: z3.Solver) -> Iterator[None]:
    """Forget what a block tells the solver."""
    solver.push()
    try:
        yield
    finally:
        solver.pop()


def make_solver() -> z3.Solver:
    """A solver that gives each question up after so many `STEPS`, or `CHECK_SECONDS`."""
    solver = z3.Solver()
    solver.set("rlimit", STEPS)
    solver.set("timeout", int(1000 * CHECK_SECONDS))
    solver.set("max_memory", MEGABYTES)
    solver.set("ctrl_c", False)  # an interrupt is for the command
    return solver


class Frames:
    """The conditions that a solver has, in frames, so that those of the next path which begins
    alike are not added again.

    `push` and `pop` are called for each frame, `add` for its conditions.
    """

    def __init__(
        self,
        push: Callable[[], None],
        pop: Callable[[int], None],
        add: Callable[[Sequence[Term]], None],
    ) -> None:
        self._push, self._pop, self._add = push, pop, add
        self._kept: list[Term] = []  # so that the solver's ids stay theirs
        self._ids: list[int] = []
        self._ends: list[int] = []

    def agree(self, conditions: Sequence[Term], ids: Sequence[int]) -> None:
        """Have these conditions, with these ids, and no others."""
        kept, frames = 0, 0
        for end in self._ends:
            if end > len(ids) or self._ids[kept:end] != ids[kept:end]:
                break
            kept, frames = end, frames + 1
        if frames < len(self._ends):
            self._pop(len(self._ends) - frames)
            del self._ends[frames:], self._ids[kept:], self._kept[kept:]
        if kept < len(ids):
            self._push()
            self._add(conditions[kept:])
            self._kept += conditions[kept:]
            self._ids += ids[kept:]
            self._ends.append(len(ids))


def few_values(
    solver: z3.Solver, number: Number, check_time: Callable[[], None]
) -> tuple[int, ...]:
    """All values that a number can have here. Raises `Undecided` if there are many."""
    values: list[int] = []
    with pushed(solver):
        while len(values) <= MOST_VALUES:
            check_time()
            answer = solver.check()
            if answer == z3.unknown:
                raise Undecided(HARD)
            if answer == z3.unsat:
                return tuple(sorted(values))
            values.append(int(solver.model().eval(number.term, True).as_signed_long()))
            solver.add(number.term != values[-1])
    raise Undecided(
        f"a number from {number.least} to {number.most} that decides on the length of another"
    )
