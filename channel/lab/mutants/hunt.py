"""The hunt: every mutant is run until it ends otherwise than the rules say, or time is up.

All mutants meet the same cases in the same order, so how many runs a kill took does not depend
on time or on the number of processes; only what is still alive at the end does.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from time import process_time
from typing import Protocol

from channel.lab.mutants import spends
from channel.lab.mutants.kinds import Mutant
from channel.lab.mutants.prepare import FIRST_CHUNKS, Prepared, differs, diverse, fresh
from channel.lab.target import REFEREE, Target

SLICE = 100
"""So many mutants are one piece of work for a process."""


@dataclass(slots=True)
class Fate:
    """What became of a mutant: after how many runs it was killed, or that it lives (`killed`
    False); `seconds` is the processor time that went into it, with its share of making cases."""

    mutant: Mutant
    killed: bool = False
    runs: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Tried:
    """What one piece of work says of one program."""

    killed: bool
    runs: int
    seconds: float


Programs = Mapping[str, Sequence[bytes]]
"""Mutants at work, as serialized programs, by validator."""


class Hunter(Protocol):
    """What tries programs: first on cases that are made once, then on fresh ones."""

    def first(self, programs: Programs) -> dict[str, list[Tried]]:
        """Try them on the prepared cases."""
        ...

    def more(self, number: int, programs: Programs) -> dict[str, list[Tried]]:
        """Try them on the chunk of fresh cases with this number, from 0."""
        ...


class CallHunter:
    """Hunts mutants of these programs: of validators by calls, of the referee by spends, whose
    outcome the rules have said."""

    def __init__(self, target: Target, seed: str, names: Sequence[str]) -> None:
        self._target, self._seed = target, seed
        self._pool: dict[str, list[Prepared]] = {}
        self._limits: dict[str, int] = {}
        for name in names:
            if name == REFEREE:
                self._pool[name], self._limits[name] = spends.diverse(target, seed)
        if set(names) - {REFEREE}:
            pool, limits = diverse(target, seed)
            self._pool |= pool
            self._limits |= limits

    def first(self, programs: Programs) -> dict[str, list[Tried]]:
        """Try them on a few hundred cases that all differ."""
        return {
            name: [self._try(name, program, self._pool[name]) for program in some]
            for name, some in programs.items()
        }

    def more(self, number: int, programs: Programs) -> dict[str, list[Tried]]:
        """Try them on a chunk of fresh cases."""
        start = process_time()
        wanted = programs.keys() - {REFEREE}
        made = fresh(self._target, self._seed, FIRST_CHUNKS + number, wanted) if wanted else {}
        if REFEREE in programs:
            made[REFEREE] = spends.fresh(self._target, self._seed, 1 + number)
        share = (process_time() - start) / max(1, sum(map(len, programs.values())))
        return {
            name: [self._try(name, program, made[name], share) for program in some]
            for name, some in programs.items()
        }

    def _try(
        self, name: str, program: bytes, cases: Sequence[Prepared], spent: float = 0.0
    ) -> Tried:
        start, limit = process_time(), self._limits[name]
        for runs, case in enumerate(cases, 1):
            if differs(program, case, limit):
                return Tried(True, runs, process_time() - start + spent)
        return Tried(False, len(cases), process_time() - start + spent)


@dataclass(slots=True)
class Hunt:
    """A hunt and how far it got."""

    fates: list[Fate] = field(default_factory=list)
    chunks: int = 0
    interrupted: bool = False
    told: Callable[[Hunt], None] | None = None

    @property
    def alive(self) -> list[Fate]:
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
        by the prepared cases. An interrupt from the keyboard ends it, and what is known stays."""
        try:
            with _workers(make, jobs) as workers:
                self._first(workers)
                while wanted := [
                    fate
                    for fate in self.alive
                    if fate.seconds < seconds and not spared(fate.mutant)
                ]:
                    if chunks is not None and self.chunks >= chunks:
                        break
                    self._more(workers, wanted)
        except KeyboardInterrupt:
            self.interrupted = True

    def _first(self, workers: Workers) -> None:
        slices = [self.fates[at : at + SLICE] for at in range(0, len(self.fates), SLICE)]
        for some, tried in zip(slices, workers.first(map(_programs, slices)), strict=True):
            _note(some, tried)
            self._tell()

    def _more(self, workers: Workers, wanted: list[Fate]) -> None:
        for tried in workers.more(self.chunks, _programs(wanted)):
            _note(wanted, tried)
            self.chunks += 1
        self._tell()

    def _tell(self) -> None:
        if self.told is not None:
            self.told(self)


def _programs(fates: Sequence[Fate]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for fate in fates:
        found.setdefault(fate.mutant.validator, []).append(fate.mutant.program)
    return found


def _note(fates: Sequence[Fate], tried: Mapping[str, Sequence[Tried]]) -> None:
    """Add what a piece of work says, unless the mutant was killed before."""
    by_name = {name: iter(results) for name, results in tried.items()}
    for fate in fates:
        result = next(by_name[fate.mutant.validator])
        if not fate.killed:
            fate.killed = result.killed
            fate.runs += result.runs
            fate.seconds += result.seconds


class Workers:
    """One hunter here, or one in each of several processes."""

    def __init__(self, hunter: Hunter | None, pool: Executor | None, jobs: int) -> None:
        self._hunter, self._pool, self._jobs = hunter, pool, jobs

    def first(self, slices: Iterator[Programs]) -> Iterator[dict[str, list[Tried]]]:
        """`Hunter.first` of each slice, in their order."""
        if self._hunter is not None:
            return map(self._hunter.first, slices)
        assert self._pool is not None
        return self._pool.map(_first, list(slices))

    def more(self, number: int, programs: Programs) -> Iterator[dict[str, list[Tried]]]:
        """`Hunter.more` of as many chunks as there are processes, in their order."""
        numbers = range(number, number + self._jobs)
        if self._hunter is not None:
            return (self._hunter.more(one, programs) for one in numbers)
        assert self._pool is not None
        return self._pool.map(_more, numbers, [programs] * self._jobs)


class _workers:
    """The workers as a context: their processes end with it."""

    def __init__(self, make: Callable[[], Hunter], jobs: int) -> None:
        self._make, self._jobs = make, jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        if self._jobs == 1:
            return Workers(self._make(), None, 1)
        self._pool = ProcessPoolExecutor(
            self._jobs, get_context("spawn"), initializer=_start, initargs=(self._make,)
        )
        return Workers(None, self._pool, self._jobs)

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


_HUNTERS: list[Hunter] = []
"""In a worker process: its hunter."""


def _start(make: Callable[[], Hunter]) -> None:
    # An interrupt goes to every process of the terminal; only the first one answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _HUNTERS.append(make())


def _first(programs: Programs) -> dict[str, list[Tried]]:
    return _HUNTERS[0].first(programs)


def _more(number: int, programs: Programs) -> dict[str, list[Tried]]:
    return _HUNTERS[0].more(number, programs)
