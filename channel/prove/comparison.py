"""Compare two programs on every input with a move of one size.

Both run along the same path, one after the other; where it ends, the solver is asked for an input
of this path on which their results differ. Every path is run for real on one input, and inputs are
drawn besides: a model of an operator that is wrong shows itself there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeAlias

import z3

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.concrete_runs import (
    check_models,
    differ,
    example,
    outcomes,
    sampled,
)
from channelsim.channel.prove.executor import (
    Ending,
    RaisedHere,
    Returned,
    SymbolicProgram,
    Unknown,
)
from channelsim.channel.prove.inputs import Domain, Inputs, concrete, undecided
from channelsim.channel.prove.path import HARD, LATE, Impossible, Path, explore, make_solver, pushed
from channelsim.channel.prove.symbols import (
    Condition,
    Hidden,
    Lazy,
    Symbolic,
    Undecided,
    equal,
)
from channelsim.clsp.integers import atom_to_int
from channelsim.clsp.run import outcome_word
from channelsim.clsp.values import Value

SAMPLES = 12
"""The inputs of each size that are drawn and run."""

DRAWS = 40
"""The most draws for one of them that fulfils all conditions."""

INVERTED = "a hash would have to be inverted"
REFUSED = "the programs differ in a state that its reader refuses"


@dataclass(frozen=True, slots=True)
class Gap:
    """A part that is undecided: why, and the program and expression that is to blame, if one is."""

    reason: str
    program: str = ""
    node: Value = b""


@dataclass
class SizeReport:
    """The result for one size of the move.

    `paths` were compared; `confirmed` of them run for real, and `unconfirmed` have no input that
    could be found; on `bounded` ones, a program looks at values of which larger ones are left out.
    `difference` is an input on which the programs differ. `endings` counts how real runs ended.
    """

    size: int
    paths: int = 0
    confirmed: int = 0
    unconfirmed: int = 0
    bounded: int = 0
    samples: int = 0
    difference: Value | None = None
    gaps: Counter[Gap] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)

    @property
    def differs(self) -> bool:
        """True if the programs differ."""
        return self.difference is not None


Compared: TypeAlias = tuple[Ending, Ending, Condition | Gap]
"""The endings of both programs on a path, and where the results differ."""


def compare_size(
    programs: tuple[SymbolicProgram, SymbolicProgram],
    domain: Domain,
    size: int,
    deadline: float,
    is_read: Callable[[Value], bool] = lambda state: True,
) -> SizeReport:
    """Compare two programs on moves of one size, in states that `is_read` accepts.

    Raises `WrongModel`.
    """
    return _Comparison(programs, domain, size, deadline, is_read).run()


class _Comparison:
    def __init__(
        self,
        programs: tuple[SymbolicProgram, SymbolicProgram],
        domain: Domain,
        size: int,
        deadline: float,
        is_read: Callable[[Value], bool],
    ) -> None:
        self._programs, self._domain, self._deadline = programs, domain, deadline
        self._is_read = is_read
        self._plain = [program.program for program in programs]
        self._inputs = domain.environment(size)
        self._solver = make_solver()
        self.report = SizeReport(size)

    def run(self) -> SizeReport:
        """Draw inputs, then follow every path, until a difference or the deadline."""
        try:
            if self._draw():
                return self.report
            for path, compared in explore(self._follow, self._solver, self._deadline):
                if self._judge(path, *compared):
                    break
        except Undecided as late:
            self.report.gaps[Gap(late.reason)] += 1
        except z3.Z3Exception as error:  # out of memory, for example
            self.report.gaps[Gap(f"the solver gave up: {error}")] += 1
        return self.report

    def _follow(self, path: Path) -> Compared:
        """Run both programs on a path."""
        for condition in self._inputs.conditions:
            path.assume(condition)
        left, right = (program.run(path, self._inputs.environment) for program in self._programs)
        for program, ending in zip(self._programs, (left, right), strict=True):
            if isinstance(ending, Unknown):
                return left, right, Gap(ending.reason, program.name, ending.node)
        try:
            return left, right, _difference(path, left, right)
        except Undecided as unknown:
            return left, right, Gap(unknown.reason)

    def _judge(self, path: Path, left: Ending, right: Ending, differing: Condition | Gap) -> bool:
        """Ask for an input of a path on which the results differ, and run it for real.

        True if the programs differ there.
        """
        report, solver = self.report, self._solver
        if isinstance(differing, Gap):
            report.gaps[differing] += 1
            if differing.reason != LATE:
                self._confirm(path, left, right)
            return report.differs
        report.paths += 1
        report.bounded += path.bounded
        if differing is not False:
            with pushed(solver):
                solver.add(differing)
                answer = solver.check()
                if answer == z3.sat and not self._confirm(path, left, right):
                    report.gaps[Gap(INVERTED)] += 1
                elif answer == z3.unknown:
                    report.gaps[Gap(LATE if monotonic() > self._deadline else HARD)] += 1
        if not report.differs:
            if self._confirm(path, left, right):
                report.confirmed += 1
            else:
                report.unconfirmed += 1
        return report.differs

    def _confirm(self, path: Path, left: Ending, right: Ending) -> bool:
        """Run an input of the path for real; False if none is found. Raises `WrongModel`."""
        found = example(self._solver, path, self._inputs, (left, right))
        if found is None:
            return False
        self._check(path, (left, right), found.values, found.environment)
        return True

    def _check(
        self,
        path: Path,
        endings: tuple[Ending, Ending],
        values: tuple[Value | None, ...],
        environment: Value,
    ) -> None:
        real = outcomes(self._plain, environment)
        for program, ending, value, outcome in zip(
            self._programs, endings, values, real, strict=True
        ):
            check_models(program.name, ending, value, outcome, path, environment)
        self.report.endings[outcome_word(real[0])] += 1
        if differ(*real):
            if self._is_read(state_of(environment)):
                self.report.difference = environment
            else:
                self.report.gaps[Gap(REFUSED)] += 1

    # --- samples ---------------------------------------------------------------------------------

    def _draw(self) -> bool:
        """Run drawn inputs for real, and by the models; true if the programs differ on one.

        Raises `WrongModel`.
        """
        chance = FastChance(self.report.size.to_bytes(2, "big"))
        words = _words(self._plain[0].value) + _words(self._plain[1].value)
        variables = sampled(chance, words)
        for drawn in range(SAMPLES):
            if self.report.samples < drawn:
                break  # the conditions are too narrow for draws
            for _ in range(DRAWS):
                inputs = self._domain.environment(self.report.size, variables)
                path = Path(None, (), self._deadline)
                try:
                    left, right = self._sampled(path, inputs)
                except Impossible:
                    continue
                if any(isinstance(end, Unknown) and end.reason == LATE for end in (left, right)):
                    return False
                self.report.samples += 1
                values = tuple(
                    concrete(ending.value, path.decided, z3.simplify)
                    if isinstance(ending, Returned)
                    else None
                    for ending in (left, right)
                )
                environment = concrete(inputs.environment, path.decided, z3.simplify)
                self._check(path, (left, right), values, environment)
                break
            if self.report.differs or monotonic() > self._deadline:
                break
        return self.report.differs

    def _sampled(self, path: Path, inputs: Inputs) -> tuple[Ending, Ending]:
        """Run both programs on a drawn input. Raises `Impossible` for one that is none."""
        for condition in inputs.conditions:
            path.assume(condition)
        left, right = (program.run(path, inputs.environment) for program in self._programs)
        results = [ending.value for ending in (left, right) if isinstance(ending, Returned)]
        for value in (inputs.environment, *results):
            while lazies := undecided(value, path.decided):
                for lazy in lazies:
                    path.shape(lazy)
                    if lazy.longer:
                        path.atom(lazy)
        return left, right


def state_of(environment: Any) -> Value:
    """The state among a validator's arguments."""
    state: Value = environment[1][1][0]
    return state


def _words(value: Value) -> list[int]:
    """The atoms of a program as numbers, and as bytes."""
    words, waiting = set(), [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += part
        else:
            words.add(atom_to_int(part))
    return sorted(words)


def _difference(path: Path, left: Ending, right: Ending) -> Condition:
    """Where two programs end differently. Raises `Undecided`."""
    match left, right:
        case RaisedHere(), RaisedHere():
            return False
        case Returned(mine), Returned(theirs):
            conditions: list[Condition] = []
            if not _same(path, mine, theirs, conditions):
                return True
            return z3.Or(*conditions) if conditions else False
    return True


def _same(path: Path, left: Symbolic, right: Symbolic, differing: list[Condition]) -> bool:
    """False for values of different shapes; else adds where their atoms differ."""
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
            return False
        same = equal(path.atom(mine), path.atom(theirs))
        if same is False:
            return False
        if same is not True:
            differing.append(z3.Not(same))
    return True
