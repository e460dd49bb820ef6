"""The hunt: run every mutant until its outcome differs from the rules', or its work is done.

All mutants meet the same cases in the same order, and each is given the same work, so what is
killed, and after how many runs, does not depend on the machine or on the number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import Protocol

from channelsim.channel.lab.cases.work import COST, SECOND
from channelsim.channel.lab.mutants import prepared_spends
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.prepared_calls import (
    COST_FACTOR,
    PreparedCall,
    cost_of,
    differs,
    diverse,
    fresh,
)
from channelsim.channel.lab.target.target import REFEREE, Target
from channelsim.channel.system.interrupt import held
from channelsim.channel.system.workers import Work, WorkerPool

SLICE = 100
"""The number of mutants in one piece of work."""

MAKING = 60
"""The work of making a fresh case, for all the mutants that meet it together. A run counts as much
as the costliest one of the original."""


@dataclass(slots=True)
class MutantResult:
    """The result for one mutant: whether and after how many runs it was killed; `seconds` is the
    processor time spent on it, with its share of making cases, and `work` the units of work that
    its fresh cases count for."""

    mutant: Mutant
    killed: bool = False
    runs: int = 0
    seconds: float = 0.0
    work: float = 0.0


@dataclass(slots=True)
class Attempt:
    """The result of one piece of work for one program."""

    killed: bool
    runs: int
    seconds: float
    work: float = 0.0


Programs = Mapping[str, Sequence[bytes]]
"""Mutants at work, as serialized programs, by validator."""


class Hunter(Protocol):
    """Runs programs: first on cases that are prepared once, then on fresh ones."""

    def try_prepared(self, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on the prepared cases."""
        ...

    def try_fresh(self, number: int, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on the chunk of fresh cases with this number, from 0."""
        ...


class CallHunter:
    """Hunts mutants of validators by calls and of the referee by spends, with the outcomes by the
    rules."""

    def __init__(
        self,
        target: Target,
        seed: str,
        names: Sequence[str],
        stored: Mapping[str, Sequence[PreparedCall]],
    ) -> None:
        self._target, self._seed = target, seed
        self._pool: dict[str, list[PreparedCall]] = {}
        self._limits: dict[str, int] = {}
        for name in names:
            if name == REFEREE:
                self._pool[name], self._limits[name] = prepared_spends.diverse(target, seed)
        if validators := [name for name in names if name != REFEREE]:
            pool, limits = diverse(target, seed, validators)
            self._pool |= pool
            self._limits |= limits
        for name in self._pool:
            self._add_stored(name, stored.get(name, ()))

    def _add_stored(self, name: str, calls: Sequence[PreparedCall]) -> None:
        """Have stored calls tried first."""
        program = self._target.with_referee[name].serialized
        costs = [COST_FACTOR * cost_of(program, call.arguments) for call in calls]
        self._pool[name] = [*calls, *self._pool[name]]
        self._limits[name] = max(self._limits[name], *costs, 0)

    def try_prepared(self, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on the stored cases, and on a few hundred that all differ."""
        return {
            name: [self._try(name, program, self._pool[name]) for program in some]
            for name, some in programs.items()
        }

    def try_fresh(self, number: int, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on a chunk of fresh cases."""
        start = process_time()
        together = max(1, sum(map(len, programs.values())))
        wanted = programs.keys() - {REFEREE}
        made = fresh(self._target, self._seed, number, wanted) if wanted else {}
        if REFEREE in programs:
            made[REFEREE] = prepared_spends.fresh(self._target, self._seed, 1 + number)
        share = (process_time() - start) / together
        work = {
            name: len(made[name]) * (self._limits[name] / COST_FACTOR / COST + MAKING / together)
            for name in programs
        }
        return {
            name: [self._try(name, program, made[name], share, work[name]) for program in some]
            for name, some in programs.items()
        }

    def _try(
        self,
        name: str,
        program: bytes,
        cases: Sequence[PreparedCall],
        spent: float = 0.0,
        work: float = 0.0,
    ) -> Attempt:
        start, limit = process_time(), self._limits[name]
        for runs, case in enumerate(cases, 1):
            if differs(program, case, limit):
                return Attempt(True, runs, process_time() - start + spent, work)
        return Attempt(False, len(cases), process_time() - start + spent, work)


@dataclass(slots=True)
class Hunt:
    """A hunt and its progress; `left` is the most seconds of work that the rest takes."""

    results: list[MutantResult] = field(default_factory=list)
    chunks: int = 0
    interrupted: bool = False
    left: float = 0.0
    on_progress: Callable[[Hunt], None] | None = None

    @property
    def alive(self) -> list[MutantResult]:
        """The mutants that have not been killed so far."""
        return [result for result in self.results if not result.killed]

    def run(
        self,
        make: Callable[[], Hunter],
        seconds: float,
        jobs: int,
        spared: Callable[[Mutant], bool],
        chunks: int | None = None,
    ) -> None:
        """Hunt each mutant for this many seconds of work (`lab.cases.work`) or chunks; spared ones
        meet only the prepared cases. An interrupt ends the hunt and keeps the results so far."""

        def wanted() -> list[MutantResult]:
            every = [result for result in self.alive if not spared(result.mutant)]
            budget = seconds * SECOND
            left = sum(max(0.0, budget - result.work) for result in every)
            self.left = left / SECOND / jobs
            return [result for result in every if result.work < budget]

        try:
            with WorkerPool(partial(_worker, make), jobs) as crew:
                self._report_progress()
                self._first(crew)
                while some := wanted():
                    self._report_progress()
                    if chunks is not None and self.chunks >= chunks:
                        break
                    self._more(crew, some, jobs)
        except KeyboardInterrupt:
            self.interrupted = True

    def _first(self, crew: WorkerPool[Step, dict[str, list[Attempt]]]) -> None:
        slices = [self.results[at : at + SLICE] for at in range(0, len(self.results), SLICE)]
        steps: list[Step] = [(None, _programs(some)) for some in slices]
        for number, tried in crew.run(steps):
            with held():
                _note(slices[number], tried)
            self._report_progress()

    def _more(
        self,
        crew: WorkerPool[Step, dict[str, list[Attempt]]],
        wanted: list[MutantResult],
        jobs: int,
    ) -> None:
        """Run one chunk in each process, and count the chunks in their order."""
        programs = _programs(wanted)
        steps: list[Step] = [(self.chunks + at, programs) for at in range(jobs)]
        made = dict(crew.run(steps))
        with held():
            for _, tried in sorted(made.items()):
                _note(wanted, tried)
                self.chunks += 1

    def _report_progress(self) -> None:
        if self.on_progress is not None:
            self.on_progress(self)


def _programs(results: Sequence[MutantResult]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for result in results:
        found.setdefault(result.mutant.validator, []).append(result.mutant.program)
    return found


def _note(results: Sequence[MutantResult], tried: Mapping[str, Sequence[Attempt]]) -> None:
    """Add the attempts of a piece of work to mutants that are still alive."""
    by_name = {name: iter(attempts) for name, attempts in tried.items()}
    for result in results:
        attempt = next(by_name[result.mutant.validator])
        if not result.killed:
            result.killed = attempt.killed
            result.runs += attempt.runs
            result.seconds += attempt.seconds
            result.work += attempt.work


Step = tuple[int | None, Programs]
"""One piece of work: programs, and the chunk of fresh cases, or None for the prepared ones."""


def _worker(make: Callable[[], Hunter]) -> Work[Step, dict[str, list[Attempt]]]:
    hunter = make()

    def work(step: Step) -> list[dict[str, list[Attempt]]]:
        number, programs = step
        if number is None:
            return [hunter.try_prepared(programs)]
        return [hunter.try_fresh(number, programs)]

    return work
