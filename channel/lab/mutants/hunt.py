"""The hunt: run every mutant until its outcome differs from the rules', or its work is done.

All mutants meet the same cases in the same order, and each is given the same work, so what is
killed, and after how many runs, does not depend on the machine or on the number of workers. First
they meet prepared cases, a slice of the mutants in each seed. Those alive go on in rounds: all meet
the same chunks of fresh cases, of which each round has several times as many as the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from math import ceil
from types import MappingProxyType

import msgspec

from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import OpenPlace, Place
from channelsim.channel.campaign.directory import PREPARED
from channelsim.channel.campaign.engine import CampaignRun
from channelsim.channel.campaign.job import Counts, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.lab.cases.runs import COST, SECOND
from channelsim.channel.lab.mutants import judged_spends
from channelsim.channel.lab.mutants.judged_cases import (
    COST_FACTOR,
    JudgedCase,
    cost_of,
    differs,
    diverse,
    fresh,
)
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.lab.targets.target_inputs import check_inputs
from channelsim.channel.system.interrupt import held

SLICE = 100
"""The number of mutants that meet the prepared cases in one seed."""

MAKING = 60
"""The work of making a fresh case, for all the mutants that meet it together. A run counts as much
as the costliest one of the original."""

MOST_SHARDS = 4096
"""Shards of fresh chunks, at most: their results are stored."""

MOST_CHUNKS = 1 << 40
"""A bound on the number of chunks, where there are hardly any cases of a validator."""

FIRST_ROUND, LATER_ROUNDS = 8, 4
"""The shards of the first round, and how many times as many as before each later one ends with."""

Programs = Mapping[str, Mapping[int, bytes]]
"""Mutants as serialized programs, by validator and by their place among all that are hunted."""

StoredCases = Mapping[str, Sequence[JudgedCase]]
"""Cases of a stored corpus, by program."""


# --- the job ----------------------------------------------------------------------------------


class Prepared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The facts about cases that the rest of a hunt needs, by validator: the cost up to which a
    mutant is run, and how many cases a chunk has on average."""

    limits: dict[str, int]
    cases: dict[str, float]


class TriedCases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mutants on the cases of one seed, by validator: the number of cases, and after how many runs
    each mutant was killed that was, by its place among all that are hunted.

    A place among those alive would not do: a resumed hunt may do a chunk that was lost before, and
    have fewer of them alive. `prepared` comes with prepared cases, the same in each seed.
    """

    number: int
    cases: dict[str, int]
    killed: dict[str, dict[int, int]]
    prepared: Prepared | None = None


@dataclass(frozen=True)
class HuntJob:
    """Tries mutants: on the prepared cases, or, once these are `prepared`, on chunks of fresh ones.

    `stored` cases come before the prepared ones. Chunks of a validator are tried up to that before
    `until`.
    """

    target: Target
    configuration: Configuration
    plan: Plan
    programs: Programs
    stored: StoredCases = field(default_factory=dict)
    prepared: Prepared | None = None
    until: Mapping[str, int] = field(default_factory=dict)

    returns_early = False

    @property
    def unit(self) -> str:
        """A mutant of the first campaign of a hunt, a chunk of the second."""
        return "mutant" if self.prepared is None else "chunk"

    @property
    def units(self) -> str:
        """Several of them."""
        return f"{self.unit}s"

    def worker(self) -> ShardWork:
        """Prepare the cases, unless they are fresh. Raises `UsageError` for another target."""
        check_inputs(self.target, self.configuration.inputs)
        seed, prepared, comes_with = self.configuration.seed, self.prepared, None
        cases: CasesOf = partial(fresh_cases, self.target, seed)
        if prepared is None:
            pool, prepared = prepared_cases(self.target, seed, list(self.programs), self.stored)
            cases, comes_with = (lambda number, names: pool), prepared
        limits = prepared.limits

        def work(shard: Shard) -> bytes:
            """Try the mutants of a shard on the cases of each of its seeds."""
            alive = self._alive(shard)
            results = []
            for number in shard.seeds:
                names = [name for name in alive if alive[name] and self._tries(name, number)]
                by_name = cases(number, names)
                killed = {name: _killed(alive[name], by_name[name], limits[name]) for name in names}
                for name in names:
                    for place in killed[name]:
                        del alive[name][place]
                sizes = {name: len(by_name[name]) for name in names}
                results.append(TriedCases(number, sizes, killed, comes_with))
            return msgspec.json.encode(results)

        return work

    def _alive(self, shard: Shard) -> dict[str, dict[int, bytes]]:
        """The mutants of a shard: those of its slice, or all."""
        first = shard.first * SLICE
        places = range(first, first + shard.budget) if self.prepared is None else None
        return {
            name: {
                place: program
                for place, program in some.items()
                if places is None or place in places
            }
            for name, some in self.programs.items()
        }

    def _tries(self, name: str, number: int) -> bool:
        return self.prepared is None or number < self.until[name]

    def decode(self, data: bytes) -> list[TriedCases]:
        """The results of the seeds of a shard."""
        return msgspec.json.decode(data, type=list[TriedCases])


CasesOf = Callable[[int, Sequence[str]], Mapping[str, Sequence[JudgedCase]]]
"""The cases of a seed for some validators."""


def prepared_cases(
    target: Target, seed: str, names: Sequence[str], stored: StoredCases
) -> tuple[dict[str, list[JudgedCase]], Prepared]:
    """The cases that mutants meet first, by validator: stored ones, and a few hundred that all
    differ; without rules, which would say what these lead to, only stored ones."""
    pool: dict[str, list[JudgedCase]] = {}
    limits: dict[str, int] = {}
    sizes: dict[str, float] = {}
    if REFEREE in names:
        pool[REFEREE], limits[REFEREE] = judged_spends.diverse(target, seed)
        sizes[REFEREE] = judged_spends.CHUNK
    validators = [name for name in names if name != REFEREE]
    if judged := [name for name in validators if target.judge(name) is not None]:
        of_validators = diverse(target, seed, judged)
        pool |= of_validators[0]
        limits |= of_validators[1]
        sizes |= of_validators[2]
    for name in validators:
        pool.setdefault(name, [])
        limits.setdefault(name, 0)
        sizes.setdefault(name, 0.0)
    for name in pool:
        cases, program = stored.get(name, ()), target.with_referee[name].serialized
        costs = [COST_FACTOR * cost_of(program, case.arguments) for case in cases]
        pool[name] = [*cases, *pool[name]]
        limits[name] = max(limits[name], *costs, 0)
    return pool, Prepared(limits, sizes)


def fresh_cases(
    target: Target, seed: str, number: int, names: Sequence[str]
) -> dict[str, list[JudgedCase]]:
    """The chunk of fresh cases with this number, from 0, by validator."""
    validators = set(names) - {REFEREE}
    cases = fresh(target, seed, number, validators) if validators else {}
    if REFEREE in names:
        cases[REFEREE] = judged_spends.fresh(target, seed, 1 + number)
    return cases


def _killed(
    programs: Mapping[int, bytes], cases: Sequence[JudgedCase], limit: int
) -> dict[int, int]:
    """After how many runs the outcome of each mutant differs from the rules', by its place; without
    those whose outcome never does."""
    killed = {}
    for place, program in programs.items():
        for runs, case in enumerate(cases, 1):
            if differs(program, case, limit):
                killed[place] = runs
                break
    return killed


# --- the hunt ---------------------------------------------------------------------------------


@dataclass(slots=True)
class MutantResult:
    """The result for one mutant: whether and after how many runs it was killed, and the units of
    work that its fresh cases count for. `place` is its place among all that are hunted."""

    mutant: Mutant
    place: int
    killed: bool = False
    runs: int = 0
    work: float = 0.0

    @property
    def seconds(self) -> float:
        """The work, in seconds of most machines."""
        return self.work / SECOND


@dataclass
class Hunt:
    """The results of a hunt, and how many chunks of fresh cases there were.

    `lost` are the mutants and the chunks that crashed their workers, by unit. `digest` is the
    SHA-256 of configuration and results; None if the hunt was interrupted.
    """

    results: list[MutantResult]
    chunks: int = 0
    interrupted: bool = False
    lost: dict[str, list[Shard]] = field(default_factory=dict)
    digest: str | None = None

    @property
    def alive(self) -> list[MutantResult]:
        """The mutants that have not been killed so far."""
        return [result for result in self.results if not result.killed]

    def run(
        self,
        job: HuntJob,
        place: Place,
        known: Mapping[Shard, list[TriedCases]] = MappingProxyType({}),
        seeds: range | None = None,
    ) -> CampaignRun[list[TriedCases]]:
        """Run one round of a job; its kills are counted as they come."""
        before, killed = len(self.results) - len(self.alive), set[int]()

        def count(shard: Shard, tries: list[TriedCases]) -> Counts:
            """Count the kills so far; stored results may be of another round."""
            if seeds is None or shard.first in seeds:
                for tried in tries:
                    killed.update(place for some in tried.killed.values() for place in some)
            return {"kills": before + len(killed)}

        run = engine.run(
            job, job.plan, place.workers(), place.directory, count, place.on_status, known, seeds
        )
        self.interrupted = run.interrupted
        self.lost.setdefault(job.unit, []).extend(run.lost)
        return run


def hunt(
    target: Target,
    mutants: Sequence[Mutant],
    configuration: Configuration,
    seconds: float,
    open_place: OpenPlace,
    spared: Callable[[Mutant], bool] = lambda mutant: False,
    chunks: int | None = None,
    stored: StoredCases = MappingProxyType({}),
) -> Hunt:
    """Hunt each mutant for this many seconds of work (`lab.cases.runs`) or chunks.

    Every one meets the `stored` cases of its program first; spared ones meet only these and the
    prepared cases. An interrupt ends the hunt and keeps the results so far.
    """
    results = [MutantResult(mutant, place) for place, mutant in enumerate(mutants)]
    hunt = Hunt(results)
    plan = Plan(configuration.digest, len(results), SLICE)
    job = HuntJob(target, configuration, plan, _programs(results), dict(stored))
    try:
        prepared = _on_prepared_cases(hunt, job, open_place) if results else None
        if prepared is not None and not hunt.interrupted:
            job = replace(job, programs={}, stored={}, prepared=prepared)
            hunted_on = [result for result in results if not spared(result.mutant)]
            _on_fresh_cases(hunt, job, seconds * SECOND, open_place, hunted_on, prepared, chunks)
    except KeyboardInterrupt:
        hunt.interrupted = True
    if not hunt.interrupted:
        plain = [(result.killed, result.runs, result.work) for result in results]
        data = configuration.digest.encode() + msgspec.json.encode(plain)
        hunt.digest = sha256(data).hexdigest()
    return hunt


def _on_prepared_cases(hunt: Hunt, job: HuntJob, open_place: OpenPlace) -> Prepared | None:
    """Try all mutants on the prepared cases, and return what comes with these; None where nothing
    was tried."""
    with open_place(job, PREPARED) as place:
        run = hunt.run(job, place)
    prepared = None
    with held():
        for shard, (tried,) in run.results.items():
            first = shard.first * SLICE
            _count(hunt.results[first : first + shard.budget], [tried])
            prepared = tried.prepared
    return prepared


def _on_fresh_cases(
    hunt: Hunt,
    job: HuntJob,
    budget: float,
    open_place: OpenPlace,
    hunted_on: Sequence[MutantResult],
    prepared: Prepared,
    chunks: int | None,
) -> None:
    """Try these mutants on fresh chunks, round after round, until their work is done."""
    alive = [result for result in hunted_on if not result.killed]
    spent = {result.mutant.validator: 0.0 for result in hunted_on}

    def until(begin: int, end: int, some: Sequence[MutantResult]) -> dict[str, int]:
        """The chunk before which each validator's mutants have had all their work."""
        work = _work_of_a_chunk(some, prepared)
        return {
            name: min(end, begin + max(0, ceil((budget - spent[name]) / work[name])))
            for name in work
        }

    # Those alive may be others at a resume, if a slice was lost before.
    ends = until(0, MOST_CHUNKS if chunks is None else chunks, hunted_on)
    # Without any work, a directory has one chunk without cases.
    bound = max([1, *ends.values()])
    plan = Plan(job.plan.configuration, bound, 1, seeds_per_shard=-(-bound // MOST_SHARDS))
    job = replace(job, plan=plan)
    results: dict[Shard, list[TriedCases]] = {}
    with open_place(job, "") as place:
        begin, shards = 0, FIRST_ROUND
        while (alive or (place.directory is not None and not begin)) and not hunt.interrupted:
            most = min(bound, shards * plan.seeds_per_shard)
            ends = until(begin, most if chunks is None else min(most, chunks), alive)
            end = max(ends.values(), default=1)
            if end <= begin:
                break
            job = replace(job, programs=_programs(alive), until=ends)
            run = hunt.run(job, place, results, range(begin, end))
            with held():
                results = run.results
                tries = {tried.number: tried for part in in_order(results) for tried in part}
                work = _work_of_a_chunk(alive, prepared)
                _count(alive, [tries[n] for n in range(begin, end) if n in tries], ends, work)
                for name in ends:
                    spent[name] += (ends[name] - begin) * work[name] if ends[name] > begin else 0
                alive = [result for result in alive if not result.killed]
                hunt.chunks = sum(bool(tried.cases) for tried in tries.values())
            begin, shards = end, shards * LATER_ROUNDS


def _work_of_a_chunk(alive: Sequence[MutantResult], prepared: Prepared) -> dict[str, float]:
    """The work that a chunk of fresh cases counts for each mutant, by validator."""
    names = dict.fromkeys(result.mutant.validator for result in alive)
    return {
        name: max(1.0, prepared.cases[name])
        * (prepared.limits[name] / COST_FACTOR / COST + MAKING / len(alive))
        for name in names
    }


def _count(
    results: Iterable[MutantResult],
    tries: Iterable[TriedCases],
    ends: Mapping[str, int] | None = None,
    work: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Add what came of cases, in their order, to mutants that are still alive."""
    by_name: dict[str, list[MutantResult]] = {}
    for result in results:
        by_name.setdefault(result.mutant.validator, []).append(result)
    for tried in tries:
        for name, size in tried.cases.items():
            # A stored chunk may name a validator whose mutants are all killed since.
            if ends is not None and tried.number >= ends.get(name, 0):
                continue
            for result in by_name[name]:
                if not result.killed:
                    runs = tried.killed[name].get(result.place, 0)
                    result.killed = runs > 0
                    result.runs += runs or size
                    result.work += work.get(name, 0.0)


def _programs(results: Sequence[MutantResult]) -> Programs:
    programs: dict[str, dict[int, bytes]] = {}
    for result in results:
        programs.setdefault(result.mutant.validator, {})[result.place] = result.mutant.program
    return programs
