"""The two campaigns of a hunt: all mutants on prepared cases, then those alive on fresh chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from channelsim.channel.campaign.job import ShardWork
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.lab.mutants import prepared_spends
from channelsim.channel.lab.mutants.prepared_calls import (
    COST_FACTOR,
    PreparedCall,
    cost_of,
    differs,
    diverse,
    fresh,
)
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.lab.targets.target_inputs import check_inputs

SLICE = 100
"""The number of mutants in one piece of the first campaign."""

Programs = Mapping[str, Mapping[int, bytes]]
"""Mutants as serialized programs, by validator and by their place among all that are hunted."""


StoredCalls = Mapping[str, Sequence[PreparedCall]]
"""Calls of a stored corpus, by program."""


class SliceResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some mutants on the prepared cases: after how many runs each was killed, 0 if it was not.

    The rest is the same in every slice, by validator: the number of prepared cases, the cost up to
    which a mutant is run, and how many cases a chunk has on average.
    """

    killed: list[int]
    prepared: dict[str, int]
    limits: dict[str, int]
    cases: dict[str, float]


class ChunkResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mutants on one chunk of fresh cases, by validator: the number of its cases, and after how
    many runs each mutant was killed that was, by its place among all that are hunted.

    A place among those alive would not do: a resumed hunt may do a chunk that was lost before, and
    have fewer of them alive.
    """

    number: int
    cases: dict[str, int]
    killed: dict[str, dict[int, int]]


@dataclass(frozen=True)
class PreparedJob:
    """Tries mutants, each with its validator, on the stored cases of its validator, and then on a
    few hundred that all differ."""

    target: Target
    seed: str
    mutants: tuple[tuple[str, bytes], ...]
    stored: StoredCalls
    inputs: Mapping[str, str]

    returns_early = False

    def worker(self) -> ShardWork:
        """Make the cases. Raises `UsageError` where the target is another one."""
        check_inputs(self.target, self.inputs)
        names = list(dict.fromkeys(name for name, _ in self.mutants))
        pool: dict[str, list[PreparedCall]] = {}
        limits: dict[str, int] = {}
        cases: dict[str, float] = {}
        if REFEREE in names:
            pool[REFEREE], limits[REFEREE] = prepared_spends.diverse(self.target, self.seed)
            cases[REFEREE] = prepared_spends.CHUNK
        if validators := [name for name in names if name != REFEREE]:
            some, costs, sizes = diverse(self.target, self.seed, validators)
            pool |= some
            limits |= costs
            cases |= sizes
        for name in pool:
            self._add_stored(name, pool, limits)
        prepared = {name: len(every) for name, every in pool.items()}

        def work(shard: Shard) -> bytes:
            first = shard.first * SLICE
            killed = [
                runs_to_kill(program, pool[name], limits[name])
                for name, program in self.mutants[first : first + shard.budget]
            ]
            return msgspec.json.encode(SliceResult(killed, prepared, limits, cases))

        return work

    def _add_stored(
        self, name: str, pool: dict[str, list[PreparedCall]], limits: dict[str, int]
    ) -> None:
        """Have stored calls tried first, within a limit that suits them."""
        calls = self.stored.get(name, ())
        program = self.target.with_referee[name].serialized
        costs = [COST_FACTOR * cost_of(program, call.arguments) for call in calls]
        pool[name] = [*calls, *pool[name]]
        limits[name] = max(limits[name], *costs, 0)

    def decode(self, data: bytes) -> SliceResult:
        """The result of a slice."""
        return msgspec.json.decode(data, type=SliceResult)


@dataclass(frozen=True)
class FreshJob:
    """Tries mutants on chunks of fresh cases, up to the chunk `until` of each validator."""

    target: Target
    seed: str
    programs: Programs
    limits: Mapping[str, int]
    until: Mapping[str, int]
    inputs: Mapping[str, str]

    returns_early = False

    def worker(self) -> ShardWork:
        """There is nothing to prepare. Raises `UsageError` where the target is another one."""
        check_inputs(self.target, self.inputs)
        return self._try

    def decode(self, data: bytes) -> list[ChunkResult]:
        """The results of the chunks of a shard."""
        return msgspec.json.decode(data, type=list[ChunkResult])

    def _try(self, shard: Shard) -> bytes:
        alive = {name: dict(some) for name, some in self.programs.items()}
        return msgspec.json.encode([self._try_chunk(number, alive) for number in shard.seeds])

    def _try_chunk(self, number: int, alive: dict[str, dict[int, bytes]]) -> ChunkResult:
        """Try those that are alive, and remove those that are killed."""
        wanted = [name for name, some in alive.items() if some and number < self.until[name]]
        made = fresh_cases(self.target, self.seed, number, wanted)
        killed: dict[str, dict[int, int]] = {}
        for name in wanted:
            tried = {
                place: runs_to_kill(program, made[name], self.limits[name])
                for place, program in alive[name].items()
            }
            killed[name] = {place: runs for place, runs in tried.items() if runs}
            for place in killed[name]:
                del alive[name][place]
        return ChunkResult(number, {name: len(made[name]) for name in wanted}, killed)


def fresh_cases(
    target: Target, seed: str, number: int, names: Sequence[str]
) -> dict[str, list[PreparedCall]]:
    """The chunk of fresh cases with this number, from 0."""
    validators = set(names) - {REFEREE}
    made = fresh(target, seed, number, validators) if validators else {}
    if REFEREE in names:
        made[REFEREE] = prepared_spends.fresh(target, seed, 1 + number)
    return made


def runs_to_kill(program: bytes, cases: Sequence[PreparedCall], limit: int) -> int:
    """After how many runs a mutant's outcome differs from the rules'; 0 if it never does."""
    for runs, case in enumerate(cases, 1):
        if differs(program, case, limit):
            return runs
    return 0
