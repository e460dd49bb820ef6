"""The hunt: run every mutant until its outcome differs from the rules', or its work is done.

All mutants meet the same cases in the same order, and each is given the same work, so what is
killed, and after how many runs, does not depend on the machine or on the number of workers. First
they meet prepared cases. Those alive go on in rounds: all meet the same chunks of fresh cases, of
which each round has several times as many as the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from types import MappingProxyType

import msgspec

from channelsim.channel.campaign import engine
from channelsim.channel.campaign.engine import CampaignStatus, Journal
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.job import Counts
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.lab.cases.work import COST, SECOND
from channelsim.channel.lab.mutants.hunt_jobs import (
    SLICE,
    ChunkResult,
    FreshJob,
    PreparedJob,
    SliceResult,
    StoredCalls,
)
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.prepared_calls import COST_FACTOR
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system.interrupt import held

MAKING = 60
"""The work of making a fresh case, for all the mutants that meet it together. A run counts as much
as the costliest one of the original."""

MOST_SHARDS = 4096
"""Shards of fresh chunks, at most: their results are stored."""

MOST_CHUNKS = 1 << 40
"""A bound on the number of chunks, where there are hardly any cases of a validator."""

FIRST_ROUND, LATER_ROUNDS = 8, 4
"""The shards of the first round, and how many times as many as before each later one ends with."""

Chunks = list[ChunkResult]


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


@dataclass(frozen=True)
class HuntPlace:
    """Where the two campaigns of a hunt run, where each is stored, and who hears of it."""

    workers: Callable[[Plan], Workers]
    prepared: Callable[[Plan], AbstractContextManager[Journal[SliceResult] | None]] = lambda plan: (
        nullcontext()
    )
    journal: Callable[[Plan], AbstractContextManager[Journal[Chunks] | None]] = lambda plan: (
        nullcontext()
    )
    progress: Callable[[str], AbstractContextManager[Callable[[CampaignStatus], None]]] = (
        lambda unit: nullcontext(lambda status: None)
    )


def in_processes(jobs: int) -> HuntPlace:
    """So many processes of this machine."""
    return HuntPlace(lambda plan: processes(min(jobs, plan.size), inline=True))


@dataclass
class Hunt:
    """The results of a hunt, and how many chunks of fresh cases there were.

    `lost` are mutants and chunks that crashed their workers, `digest` the SHA-256 of configuration
    and results; None if the hunt was interrupted.
    """

    results: list[MutantResult] = field(default_factory=list)
    chunks: int = 0
    interrupted: bool = False
    lost: list[tuple[str, Shard]] = field(default_factory=list)
    digest: str | None = None

    @property
    def alive(self) -> list[MutantResult]:
        """The mutants that have not been killed so far."""
        return [result for result in self.results if not result.killed]


def hunt(
    target: Target,
    mutants: Sequence[Mutant],
    configuration: Configuration,
    seconds: float,
    place: HuntPlace,
    spared: Callable[[Mutant], bool] = lambda mutant: False,
    chunks: int | None = None,
    stored: StoredCalls = MappingProxyType({}),
) -> Hunt:
    """Hunt each mutant for this many seconds of work (`lab.cases.work`) or chunks.

    Every one meets the `stored` calls of its program first; spared ones meet only these and the
    prepared cases. An interrupt ends the hunt and keeps the results so far.
    """
    made = Hunt([MutantResult(one, place) for place, one in enumerate(mutants)])
    try:
        first = _prepared(made, target, configuration, place, stored)
        if first is not None and not made.interrupted:
            wanted = [one for one in made.results if not spared(one.mutant)]
            _fresh(made, target, configuration, seconds, place, wanted, first, chunks)
    except KeyboardInterrupt:
        made.interrupted = True
    results = [(one.killed, one.runs, one.work) for one in made.results]
    if not made.interrupted:
        data = configuration.digest.encode() + msgspec.json.encode(results)
        made.digest = sha256(data).hexdigest()
    return made


def _prepared(
    hunt: Hunt,
    target: Target,
    configuration: Configuration,
    place: HuntPlace,
    stored: StoredCalls,
) -> SliceResult | None:
    """Try all mutants on the prepared cases; the result of some slice, if there is one."""
    programs = tuple((one.mutant.validator, one.mutant.program) for one in hunt.results)
    if not programs:
        return None
    plan = Plan(configuration.digest, len(programs), SLICE)
    inputs = configuration.inputs
    job = PreparedJob(target, configuration.seed, programs, dict(stored), inputs)
    kills = 0

    def count(_: Shard, got: SliceResult) -> Counts:
        nonlocal kills
        kills += sum(runs > 0 for runs in got.killed)
        return {"kills": kills}

    with place.prepared(plan) as journal, place.progress("mutant") as on_status:
        run = engine.run(job, plan, place.workers(plan), journal, count, on_status)
    with held():
        for shard, got in run.results.items():
            some = hunt.results[shard.first * SLICE :]
            for result, runs in zip(some, got.killed, strict=False):
                result.killed = runs > 0
                result.runs = runs or got.prepared[result.mutant.validator]
        hunt.interrupted = run.interrupted
        hunt.lost += [("mutant", one) for one in run.lost]
    return next(iter(run.results.values()), None)


def _fresh(
    hunt: Hunt,
    target: Target,
    configuration: Configuration,
    seconds: float,
    place: HuntPlace,
    wanted: Sequence[MutantResult],
    first: SliceResult,
    chunks: int | None,
) -> None:
    """Try these mutants on fresh chunks, round after round, until their work is done."""
    budget = seconds * SECOND
    alive = [one for one in wanted if not one.killed]
    spent = {one.mutant.validator: 0.0 for one in wanted}

    def until(begin: int, end: int, some: Sequence[MutantResult]) -> dict[str, int]:
        """The chunk before which each validator's mutants have had all their work."""
        work = _work_of_a_chunk(some, first)
        return {
            name: min(end, begin + max(0, ceil((budget - spent[name]) / work[name])))
            for name in work
        }

    # Those alive may be others at a resume, if a slice was lost before.
    bound = max(until(0, MOST_CHUNKS if chunks is None else chunks, wanted).values(), default=0)
    # Without any work, a directory has one chunk without cases.
    bound = max(1, bound)
    plan = Plan(configuration.digest, bound, 1, seeds_per_shard=-(-bound // MOST_SHARDS))
    results: dict[Shard, Chunks] = {}
    with place.journal(plan) as journal, place.progress("chunk") as on_status:
        begin, shards = 0, FIRST_ROUND
        while (alive or (journal is not None and not begin)) and not hunt.interrupted:
            most = min(bound, shards * plan.seeds_per_shard)
            ends = until(begin, most if chunks is None else min(most, chunks), alive)
            end = max(ends.values(), default=1)
            if end <= begin:
                break
            job = FreshJob(
                *(target, configuration.seed, _programs(alive), first.limits, ends),
                configuration.inputs,
            )
            seeds = range(begin, end)
            run = engine.run(
                job,
                plan,
                place.workers(plan),
                journal,
                _KillCount(hunt, seeds).add,
                on_status,
                known=results,
                seeds=seeds,
            )
            with held():
                results = run.results
                hunt.interrupted = run.interrupted
                hunt.lost += [("chunk", one) for one in run.lost]
                done = {one.number: one for part in in_order(results) for one in part}
                work = _work_of_a_chunk(alive, first)
                _count(alive, [done[n] for n in range(begin, end) if n in done], ends, work)
                for name in ends:
                    spent[name] += (ends[name] - begin) * work[name] if ends[name] > begin else 0
                alive = [one for one in alive if not one.killed]
                hunt.chunks = sum(bool(one.cases) for one in done.values())
            begin, shards = end, shards * LATER_ROUNDS


class _KillCount:
    """How many mutants are killed, counting a round that is under way."""

    def __init__(self, hunt: Hunt, seeds: range) -> None:
        self._before = len(hunt.results) - len(hunt.alive)
        self._seeds = seeds
        self._killed: set[int] = set()

    def add(self, shard: Shard, chunks: Chunks) -> Counts:
        """Count the kills of a shard, also of a stored one, unless it is of another round."""
        if shard.first in self._seeds:
            self._killed.update(
                place for one in chunks for some in one.killed.values() for place in some
            )
        return {"kills": self._before + len(self._killed)}


def _work_of_a_chunk(alive: Sequence[MutantResult], first: SliceResult) -> dict[str, float]:
    """The work that a chunk of fresh cases counts for each mutant, by validator."""
    together = len(alive)
    names = dict.fromkeys(one.mutant.validator for one in alive)
    return {
        name: max(1.0, first.cases[name])
        * (first.limits[name] / COST_FACTOR / COST + MAKING / together)
        for name in names
    }


def _count(
    alive: Sequence[MutantResult],
    chunks: Iterable[ChunkResult],
    ends: Mapping[str, int],
    work: Mapping[str, float],
) -> None:
    """Add the results of chunks, in their order, to mutants that are still alive."""
    by_name: dict[str, list[MutantResult]] = {}
    for one in alive:
        by_name.setdefault(one.mutant.validator, []).append(one)
    for chunk in chunks:
        for name, size in chunk.cases.items():
            # A stored chunk may name a validator whose mutants are all killed since.
            if chunk.number >= ends.get(name, 0):
                continue
            for one in by_name[name]:
                if not one.killed:
                    runs = chunk.killed[name].get(one.place, 0)
                    one.killed = runs > 0
                    one.runs += runs or size
                    one.work += work[name]


def _programs(results: Sequence[MutantResult]) -> dict[str, dict[int, bytes]]:
    found: dict[str, dict[int, bytes]] = {}
    for result in results:
        found.setdefault(result.mutant.validator, {})[result.place] = result.mutant.program
    return found
