"""Examine a claim on every input with a move of one size.

Its sides run along the same path, one after the other; where it ends, the solver is asked for an
input of this path on which they break the claim. Every path is run for real on one input, and
inputs are drawn besides: a model of an operator that is wrong shows itself there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Any, TypeAlias

import z3

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.claims import Claim
from channelsim.channel.prove.concrete_runs import WrongModel, check_models, example, sampled
from channelsim.channel.prove.executor import Ending, Returned, Unknown
from channelsim.channel.prove.inputs import Domain, Inputs, concrete, free, undecided
from channelsim.channel.prove.path import Impossible, Path, explore
from channelsim.channel.prove.products import agreements, draw_operands, exact
from channelsim.channel.prove.solver import HARD, LATE, make_solver, pushed
from channelsim.channel.prove.symbols import Condition, Symbolic, Undecided, conjunction
from channelsim.clsp.run import outcome_word
from channelsim.clsp.values import Value, serialize

SAMPLES = 12
"""The inputs of each size that are drawn and run."""

DRAWS = 40
"""The most draws for one of them that fulfils all conditions."""

TRIED = 8
"""Draws of the operands of products, where an input seems to break a claim."""

INVERTED = "a hash would have to be inverted"
UNBROKEN = "an input breaks the claim by the models, and not in real runs"
REFUSED = "only a state that its reader refuses is shown"


@dataclass(frozen=True, slots=True)
class Gap:
    """A part that is undecided: why, and the side and the part of it to blame, if one is."""

    reason: str
    side: str = ""
    node: Any = b""


@dataclass
class SizeReport:
    """The result for one size of the move.

    `paths` were examined; `confirmed` of them run for real, and `unconfirmed` have no input that
    could be found; on `bounded` ones, a side looks at values of which larger ones are left out.
    `counterexample` is an input that breaks the claim. `endings` counts how real runs of the first
    side ended. `undecided` are the gaps as text: reasons, and places. No run of a side costs more
    than `cost`, on the paths that were examined.
    """

    size: int
    paths: int = 0
    cost: int = 0
    confirmed: int = 0
    unconfirmed: int = 0
    bounded: int = 0
    samples: int = 0
    counterexample: Value | None = None
    gaps: Counter[Gap] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    undecided: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def broken(self) -> bool:
        """True if an input breaks the claim."""
        return self.counterexample is not None


Refuses: TypeAlias = Callable[[Path, Symbolic], bool]
"""True if the reader of the state in these arguments refuses it on a path."""

Examined: TypeAlias = tuple[tuple[Ending, ...], Condition | Gap]
"""The endings of all sides on a path, and where they break the claim; no ending where the reader
refuses the state."""


def examine_size(
    claim: Claim,
    domain: Domain,
    size: int,
    deadline: float,
    takes: Callable[[Value], bool] = lambda environment: True,
    refuses: Refuses = lambda path, environment: False,
    refuses_first: bool = False,
) -> SizeReport:
    """Examine a claim on moves of one size, on arguments whose state its reader `takes`.

    `refuses` says of a path that it is about states that it does not take: it is left out.
    It is asked where the claim may be broken, or before the sides run: in states of a known shape,
    and `refuses_first`, for states in which these cannot run. Raises `WrongModel`.
    """
    return _Examination(claim, domain, size, deadline, takes, refuses, refuses_first).run()


class _Examination:
    def __init__(
        self,
        claim: Claim,
        domain: Domain,
        size: int,
        deadline: float,
        takes: Callable[[Value], bool],
        refuses: Refuses,
        refuses_first: bool,
    ) -> None:
        self._claim, self._sides = claim, claim.sides()
        self._domain, self._deadline = domain, deadline
        self._takes, self._refuses, self._refuses_first = takes, refuses, refuses_first
        self._inputs = claim.environment(domain, size, free)
        self._solver = make_solver()
        self._postponed: list[tuple[Path, tuple[Ending, ...], Condition]] = []
        self.report = SizeReport(size)

    def run(self) -> SizeReport:
        """Draw inputs, then follow every path, until a counterexample or the deadline."""
        report = self.report
        try:
            if not self._draw():
                for path, examined in explore(self._follow, self._solver, self._deadline):
                    if self._judge(path, *examined):
                        break
                while self._postponed and not report.broken:
                    self._show_exactly(*self._postponed.pop(0))
        except Undecided as late:
            report.gaps[Gap(late.reason)] += 1
        except z3.Z3Exception as error:  # out of memory, for example
            report.gaps[Gap(f"the solver gave up: {error}")] += 1
        for gap, times in report.gaps.items():
            report.undecided[gap.reason, self._place(gap)] += times
        return report

    def _place(self, gap: Gap) -> str:
        for side in self._sides:
            if side.name == gap.side and (place := side.place(gap.node)):
                return f"{side.name}: {place}"
        return ""

    def _follow(self, path: Path) -> Examined:
        """Run all sides on a path."""
        first = self._refuses_first or self._domain.like is not None
        endings = self._run(path, self._inputs, first)
        broken = self._broken(path, endings) if endings else False
        if broken is not False and not first and not _is_late(broken):
            try:
                if self._refuses(path, self._inputs.environment):
                    return (), False
            except Undecided as unknown:
                return endings, Gap(unknown.reason)
        return endings, broken

    def _run(self, path: Path, inputs: Inputs, refuses_first: bool) -> tuple[Ending, ...]:
        """The endings of all sides; none where the reader refuses the state."""
        for condition in inputs.conditions:
            path.assume(condition)
        if refuses_first and self._refuses(path, inputs.environment):
            return ()
        return tuple(side.run(path, inputs.environment) for side in self._sides)

    def _broken(self, path: Path, endings: tuple[Ending, ...]) -> Condition | Gap:
        for side, ending in zip(self._sides, endings, strict=True):
            if isinstance(ending, Unknown):
                return Gap(ending.reason, side.name, ending.node)
        try:
            return self._claim.broken(path, self._inputs, endings)
        except Undecided as unknown:
            return Gap(unknown.reason)

    def _judge(self, path: Path, endings: tuple[Ending, ...], broken: Condition | Gap) -> bool:
        """Ask for an input of a path that breaks the claim, and run it for real.

        True if one does.
        """
        report, solver = self.report, self._solver
        if not endings:
            self._confirm(path, endings)
            return False
        if isinstance(broken, Gap):
            report.gaps[broken] += 1
            if broken.reason != LATE:
                self._confirm(path, endings)
            return report.broken
        agreed = conjunction(*agreements(path))
        if path.linear.refutes(agreed) or (agreed is not True and solver.check(agreed) == z3.unsat):
            return False  # no input takes this path
        report.paths += 1
        costs = [ending.cost for ending in endings if isinstance(ending, Returned)]
        report.cost = max(report.cost, *costs, 0)
        report.bounded += path.bounded
        if broken is not False and not path.linear.refutes(conjunction(broken, agreed)):
            with pushed(solver):
                solver.add(broken)
                answer = solver.check()
                if answer == z3.sat and not self._show(path, endings):
                    solver.add(agreed)
                    answer = solver.check()
                    if answer == z3.sat:
                        self._show_products(path, endings, broken)
                if answer == z3.unknown:
                    self._give_up()
        if not report.broken:
            if self._confirm(path, endings):
                report.confirmed += 1
            else:
                report.unconfirmed += 1
        return report.broken

    def _show_products(self, path: Path, endings: tuple[Ending, ...], broken: Condition) -> None:
        """Run an input by the real products in its terms, or ask for one later."""
        if not exact(self._solver.assertions()):
            self.report.gaps[Gap(INVERTED)] += 1
        elif not self._show_drawn(path, endings):
            self._postponed.append((path, endings, broken))

    def _show_drawn(self, path: Path, endings: tuple[Ending, ...]) -> bool:
        """Run an input whose products are those of operands that are drawn; False if none is
        found."""
        chance = FastChance(b"operands")
        for _ in range(TRIED):
            path.check_time()
            with pushed(self._solver):
                draw_operands(self._solver, chance.below)
                if self._solver.check() == z3.sat and self._show(path, endings):
                    return True
        return False

    def _show_exactly(self, path: Path, endings: tuple[Ending, ...], broken: Condition) -> None:
        """Ask for an input again, with real products, which take the solver long."""
        path.check_time()
        path.load()
        with pushed(self._solver):
            self._solver.add(broken)
            self._solver.add(*exact(self._solver.assertions()))
            answer = self._solver.check()
            if answer == z3.sat and not self._show(path, endings):
                self.report.gaps[Gap(INVERTED)] += 1
            if answer == z3.unknown:
                self._give_up()

    def _give_up(self) -> None:
        """Note that the solver has no answer."""
        self.report.gaps[Gap(LATE if thread_time() > self._deadline else HARD)] += 1

    def _show(self, path: Path, endings: tuple[Ending, ...]) -> bool:
        """Run an input that seems to break the claim; False if none is found."""
        report = self.report
        gaps, shown = report.gaps.total(), self._confirm(path, endings)
        if shown and not report.broken and report.gaps.total() == gaps:
            report.gaps[Gap(UNBROKEN)] += 1
        return shown

    def _confirm(self, path: Path, endings: tuple[Ending, ...]) -> bool:
        """Run an input of the path for real; False if none is found. Raises `WrongModel`."""
        shown = example(self._solver, path, self._inputs, endings)
        if shown is None:
            return False
        self._check(endings, shown.values, shown.environment)
        return True

    def _check(
        self,
        endings: Sequence[Ending],
        values: Sequence[Value | None],
        environment: Value,
        drawn: bool = False,
    ) -> None:
        if not endings:
            if self._takes(environment):
                raise WrongModel(
                    "a reader is followed wrongly: it takes a state that it refuses by the models:"
                    f" {serialize(state_of(environment)).hex()}"
                )
            return
        outcomes = [side.real(environment) for side in self._sides]
        for side, ending, value, outcome in zip(
            self._sides, endings, values, outcomes, strict=True
        ):
            check_models(side.name, ending, value, outcome, environment)
        self.report.endings[outcome_word(outcomes[0])] += 1
        if self._is_broken(environment):
            if self._takes(environment):
                self.report.counterexample = environment
            elif not drawn:
                self.report.gaps[Gap(REFUSED)] += 1

    def _is_broken(self, environment: Value) -> bool:
        """True if real runs break the claim; notes where they cannot tell."""
        try:
            return self._claim.is_broken(environment)
        except Undecided as unknown:
            self.report.gaps[Gap(unknown.reason)] += 1
            return False

    # --- samples ---------------------------------------------------------------------------------

    def _draw(self) -> bool:
        """Run drawn inputs for real, and by the models; true if one breaks the claim.

        Raises `WrongModel`.
        """
        report = self.report
        chance = FastChance(report.size.to_bytes(2, "big"))
        words = [number for side in self._sides for number in sorted(set(side.constants()))]
        variables = sampled(chance, words)
        for drawn in range(SAMPLES):
            if report.samples < drawn:
                break  # the conditions are too narrow for draws
            for _ in range(DRAWS):
                inputs = self._claim.environment(self._domain, report.size, variables)
                path = Path(None, (), self._deadline)
                try:
                    endings = self._sampled(path, inputs)
                except Impossible:
                    continue
                if any(isinstance(end, Unknown) and end.reason == LATE for end in endings):
                    return False
                report.samples += bool(endings)
                values = [
                    concrete(ending.value, path.decided, z3.simplify)
                    if isinstance(ending, Returned)
                    else None
                    for ending in endings
                ]
                environment = concrete(inputs.environment, path.decided, z3.simplify)
                self._check(endings, values, environment, drawn=True)
                if endings:
                    break
            if report.broken or thread_time() > self._deadline:
                break
        return report.broken

    def _sampled(self, path: Path, inputs: Inputs) -> tuple[Ending, ...]:
        """Run all sides on a drawn input. Raises `Impossible` for one that is none."""
        endings = self._run(path, inputs, self._refuses_first)
        results = [ending.value for ending in endings if isinstance(ending, Returned)]
        for value in (inputs.environment, *results):
            while lazies := undecided(value, path.decided):
                for lazy in lazies:
                    path.shape(lazy)
                    if lazy.longer:
                        path.atom(lazy)
        return endings


def _is_late(broken: Condition | Gap) -> bool:
    return isinstance(broken, Gap) and broken.reason == LATE


def state_of(environment: Any) -> Value:
    """The state among a validator's arguments."""
    state: Value = environment[1][1][0]
    return state
