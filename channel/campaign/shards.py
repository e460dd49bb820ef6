"""A campaign cut into shards, the same for any number of workers, and their results in order.

The work of a campaign is a row of seeds, numbered from 0, with a budget each. A shard is a range of
them. Budgets count work (cases, units of the fuzzer), never time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, TypeVar

import msgspec

from channelsim.channel.errors import InvariantError
from channelsim.games.amounts import counted

R = TypeVar("R")

FORMAT = "channelsim campaign 1"


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that decides on the results of a campaign.

    `command` is the name of the command, `version` that of this package. `target` is the name of
    what is tested. `inputs` are SHA-256 digests or tree hashes in hex by what they are of:
    programs, rules of an author's own, recorded play, a corpus. `options` are the other options
    that matter, as JSON values.
    """

    command: str
    version: str
    target: str
    seed: str
    inputs: dict[str, str]
    options: dict[str, Any] = {}
    format: str = FORMAT

    @property
    def digest(self) -> str:
        """SHA-256 in hex."""
        return sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()

    def differences(self, other: Configuration) -> list[str]:
        """What differs between two configurations, a phrase each: `seed 'a' instead of 'b'`."""
        return [
            f"{name} {'none' if new is None else repr(new)}"
            f" instead of {'none' if old is None else repr(old)}"
            for name, (new, old) in _paired(_flat(self), _flat(other)).items()
            if new != old
        ]


def _flat(configuration: Configuration) -> dict[str, Any]:
    plain = msgspec.to_builtins(configuration)
    inputs, options = plain.pop("inputs"), plain.pop("options")
    return {**plain, **{f"the {name}": value for name, value in inputs.items()}, **options}


def _paired(new: dict[str, Any], old: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (new.get(name), old.get(name)) for name in {**new, **old}}


class Shard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seeds from `first` on, `count` of them, with `budget` units of work for all together.

    `number` is the place of the shard in its plan; the parts of a shard that was halved share it.
    `configuration` is the digest of the campaign's configuration.
    """

    configuration: str
    number: int
    first: int
    count: int
    budget: int

    @property
    def seeds(self) -> range:
        """The numbers of its seeds."""
        return range(self.first, self.first + self.count)


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`total` units of work: each seed gets `unit` of them, the last one what is left.

    A shard has `seeds_per_shard` seeds. A seed that crashes its worker is tried with less work, but
    not with less than `least`.
    """

    configuration: str
    total: int
    unit: int
    seeds_per_shard: int = 1
    least: int = 1

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return -(-self.total // self.unit)

    @property
    def size(self) -> int:
        """The number of shards."""
        return -(-self.seeds // self.seeds_per_shard)

    def budget(self, first: int, count: int) -> int:
        """The planned work of some seeds in a row.

        >>> plan = Plan("", total=10, unit=4)
        >>> plan.seeds, plan.budget(0, 1), plan.budget(1, 2)
        (3, 4, 6)
        """
        return min(self.total, (first + count) * self.unit) - first * self.unit

    def covers(self, shard: Shard) -> bool:
        """True if a shard is of this plan: whole, or a part as `shards` and `halves` make them."""
        return (
            shard.configuration == self.configuration
            and shard.first >= 0
            and shard.count >= 1
            and shard.first + shard.count <= self.seeds
            and shard.number
            == shard.first // self.seeds_per_shard
            == (shard.first + shard.count - 1) // self.seeds_per_shard
            and 0 < shard.budget <= (whole := self.budget(shard.first, shard.count))
            and (shard.count == 1 or shard.budget == whole)
        )

    def shards(self, results: Iterable[Shard] = ()) -> list[Shard]:
        """The shards in order; without the seeds of which there are results."""
        done = {seed for result in results for seed in result.seeds}
        shards = []
        for number in range(self.size):
            first = number * self.seeds_per_shard
            end = min(first + self.seeds_per_shard, self.seeds)
            shards += [
                self._shard(number, run.start, len(run))
                for run in _runs(seed for seed in range(first, end) if seed not in done)
            ]
        return shards

    def halves(self, shard: Shard) -> tuple[Shard, ...]:
        """Halve a shard's seeds, or the work of a single seed; nothing if that is too little."""
        if shard.count > 1:
            some = shard.count // 2
            return (
                self._shard(shard.number, shard.first, some),
                self._shard(shard.number, shard.first + some, shard.count - some),
            )
        half = shard.budget // 2
        return (msgspec.structs.replace(shard, budget=half),) if half >= self.least else ()

    def lost(self, results: Iterable[Shard]) -> list[Shard]:
        """The seeds of which work is missing, a shard each; `budget` is the work that is."""
        done = {result.first: result for result in results if result.count == 1}
        short = [
            msgspec.structs.replace(shard, budget=missing)
            for shard in done.values()
            if (missing := self.budget(shard.first, 1) - shard.budget) > 0
        ]
        absent = [
            self._shard(part.number, seed, 1)
            for part in self.shards(results)
            for seed in part.seeds
        ]
        return sorted([*short, *absent], key=lambda lost: lost.first)

    def _shard(self, number: int, first: int, count: int) -> Shard:
        return Shard(self.configuration, number, first, count, self.budget(first, count))


def _runs(numbers: Iterable[int]) -> Iterator[range]:
    """Ascending numbers as ranges.

    >>> list(_runs([1, 2, 5]))
    [range(1, 3), range(5, 6)]
    """
    start: int | None = None
    last = 0
    for number in numbers:
        if start is not None and number != last + 1:
            yield range(start, last + 1)
            start = None
        start, last = number if start is None else start, number
    if start is not None:
        yield range(start, last + 1)


def merged(first: Mapping[Shard, R], other: Mapping[Shard, R]) -> dict[Shard, R]:
    """The results of both. The order does not matter, nor how often something is merged.

    Raises `InvariantError` where they have different results of the same shard.
    """
    for shard in first.keys() & other.keys():
        if first[shard] != other[shard]:
            raise InvariantError(f"two results of shard {shard.number} (seed {shard.first})")
    return {**first, **other}


def in_order(results: Mapping[Shard, R]) -> Iterator[R]:
    """The results by seed, each seed once, whatever the order in which they came.

    Where there is a whole shard and parts of it, the whole counts; of one seed, the most work.
    """
    end = 0
    for shard in sorted(results, key=lambda shard: (shard.first, -shard.count, -shard.budget)):
        if shard.first >= end:
            yield results[shard]
            end = shard.first + shard.count


def describe_lost(lost: Iterable[Shard], unit: str) -> list[str]:
    """A line for each seed that crashed its worker; `unit` is one of work, in the singular.

    >>> describe_lost([Shard("", 0, first=3, count=1, budget=1500)], "case")
    ['seed number 3 crashes its worker: 1,500 cases not done']
    """
    return [
        f"seed number {shard.first} crashes its worker: {counted(shard.budget, unit)} not done"
        for shard in lost
    ]
