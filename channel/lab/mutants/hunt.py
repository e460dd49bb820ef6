"""The hunt: every mutant is run until it ends otherwise than the rules say, or time is up.

All mutants meet the same cases in the same order, so how many runs a kill took does not depend
on time or on the number of processes; only what is still alive at the end does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import Protocol

from channel.lab.mutants import prepared_spends
from channel.lab.mutants.kinds import Mutant
from channel.lab.mutants.prepared_calls import FIRST_CHUNKS, PreparedCall, differs, diverse, fresh
from channel.lab.target.target import REFEREE, Target
from channel.system.interrupt import held
from channel.system.workers import Work, WorkerPool

SLICE = 100
"""So many mutants are one piece of work for a process."""


@dataclass(slots=True)
class MutantResult:
    """What became of a mutant: after how many runs it was killed, or that it lives (`killed`
    False); `seconds` is the processor time that went into it, with its share of making cases."""

    mutant: Mutant
    killed: bool = False
    runs: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Attempt:
    """What one piece of work says of one program."""

    killed: bool
    runs: int
    seconds: float


Programs = Mapping[str, Sequence[bytes]]
"""Mutants at work, as serialized programs, by validator."""


class Hunter(Protocol):
    """What tries programs: first on cases that are made once, then on fresh ones."""

    def first(self, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on the prepared cases."""
        ...

    def more(self, number: int, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on the chunk of fresh cases with this number, from 0."""
        ...


class CallHunter:
    """Hunts mutants of these programs: of validators by calls, of the referee by spends, whose
    outcome the rules have said."""

    def __init__(self, target: Target, seed: str, names: Sequence[str]) -> None:
        self._target, self._seed = target, seed
        self._pool: dict[str, list[PreparedCall]] = {}
        self._limits: dict[str, int] = {}
        for name in names:
            if name == REFEREE:
                self._pool[name], self._limits[name] = prepared_spends.diverse(target, seed)
        if set(names) - {REFEREE}:
            pool, limits = diverse(target, seed)
            self._pool |= pool
            self._limits |= limits

    def first(self, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on a few hundred cases that all differ."""
        return {
            name: [self._try(name, program, self._pool[name]) for program in some]
            for name, some in programs.items()
        }

    def more(self, number: int, programs: Programs) -> dict[str, list[Attempt]]:
        """Try them on a chunk of fresh cases."""
        start = process_time()
        wanted = programs.keys() - {REFEREE}
        made = fresh(self._target, self._seed, FIRST_CHUNKS + number, wanted) if wanted else {}
        if REFEREE in programs:
            made[REFEREE] = prepared_spends.fresh(self._target, self._seed, 1 + number)
        share = (process_time() - start) / max(1, sum(map(len, programs.values())))
        return {
            name: [self._try(name, program, made[name], share) for program in some]
            for name, some in programs.items()
        }

    def _try(
        self, name: str, program: bytes, cases: Sequence[PreparedCall], spent: float = 0.0
    ) -> Attempt:
        start, limit = process_time(), self._limits[name]
        for runs, case in enumerate(cases, 1):
            if differs(program, case, limit):
                return Attempt(True, runs, process_time() - start + spent)
        return Attempt(False, len(cases), process_time() - start + spent)


@dataclass(slots=True)
class Hunt:
    """A hunt and how far it got; `left` is how many seconds it takes at most to go on."""

    fates: list[MutantResult] = field(default_factory=list)
    chunks: int = 0
    interrupted: bool = False
    left: float = 0.0
    told: Callable[[Hunt], None] | None = None

    @property
    def alive(self) -> list[MutantResult]:
        """The mutants that nothing has found out so far."""
        return [fate for fate in self.fates if not fate.killed]

    def run(
        self,
        make: Callable[[], Hunter],
        seconds: float,
        jobs: int,
        spared: Callable[[Mutant], bool],
        chunks: int | None = None,
    ) -> None:
        """Hunt each mutant for so many seconds, or so many chunks; those that are spared only
        by the prepared cases. An interrupt ends it, and what is known stays."""

        def wanted() -> list[MutantResult]:
            every = [fate for fate in self.alive if not spared(fate.mutant)]
            self.left = sum(max(0.0, seconds - fate.seconds) for fate in every) / jobs
            return [fate for fate in every if fate.seconds < seconds]

        try:
            with WorkerPool(partial(_worker, make), jobs) as crew:
                self._tell()
                self._first(crew)
                while some := wanted():
                    self._tell()
                    if chunks is not None and self.chunks >= chunks:
                        break
                    self._more(crew, some, jobs)
        except KeyboardInterrupt:
            self.interrupted = True

    def _first(self, crew: WorkerPool[Step, dict[str, list[Attempt]]]) -> None:
        slices = [self.fates[at : at + SLICE] for at in range(0, len(self.fates), SLICE)]
        steps: list[Step] = [partial(_first, _programs(some)) for some in slices]
        for number, tried in crew.run(steps):
            with held():
                _note(slices[number], tried)
            self._tell()

    def _more(
        self,
        crew: WorkerPool[Step, dict[str, list[Attempt]]],
        wanted: list[MutantResult],
        jobs: int,
    ) -> None:
        """A chunk for each process, counted in their order whichever is done first."""
        programs = _programs(wanted)
        steps: list[Step] = [partial(_more, self.chunks + at, programs) for at in range(jobs)]
        made = dict(crew.run(steps))
        with held():
            for _, tried in sorted(made.items()):
                _note(wanted, tried)
                self.chunks += 1

    def _tell(self) -> None:
        if self.told is not None:
            self.told(self)


def _programs(fates: Sequence[MutantResult]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for fate in fates:
        found.setdefault(fate.mutant.validator, []).append(fate.mutant.program)
    return found


def _note(fates: Sequence[MutantResult], tried: Mapping[str, Sequence[Attempt]]) -> None:
    """Add what a piece of work says, unless the mutant was killed before."""
    by_name = {name: iter(results) for name, results in tried.items()}
    for fate in fates:
        result = next(by_name[fate.mutant.validator])
        if not fate.killed:
            fate.killed = result.killed
            fate.runs += result.runs
            fate.seconds += result.seconds


Step = Callable[[Hunter], dict[str, list[Attempt]]]
"""One piece of work for a hunter."""


def _worker(make: Callable[[], Hunter]) -> Work[Step, dict[str, list[Attempt]]]:
    hunter = make()
    return lambda step: [step(hunter)]


def _first(programs: Programs, hunter: Hunter) -> dict[str, list[Attempt]]:
    return hunter.first(programs)


def _more(number: int, programs: Programs, hunter: Hunter) -> dict[str, list[Attempt]]:
    return hunter.more(number, programs)
