"""Sweeps of disputes as campaigns.

Each seed is one adversary with one menu of games, or an old copy in one weather.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any, get_origin

import msgspec

from channelsim.channel import __version__
from channelsim.channel.adversaries.base import names
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.engine import CampaignStatus, Journal
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.job import Counts, ShardProgress, ShardWork
from channelsim.channel.campaign.plugin_inputs import check_plugins, plugin_inputs
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto import bls
from channelsim.channel.simulation.sweep import SweepTotals, beginnings, everywhere
from channelsim.channel.simulation.sweep_findings import mistakes
from channelsim.channel.system.process_executor import parent
from channelsim.games import registry

MOST_SHARDS = 4096
"""Shards of a sweep, at most: their results are stored."""

TOGETHER = 16
"""Adversaries in a row of which signatures are remembered."""

Sweep = Callable[[int], Iterator[SweepTotals]]
"""All runs of the adversary with this number, from 0: the totals of each."""


@dataclass(frozen=True)
class SweepReport:
    """The totals of a sweep, and the adversaries that crashed their workers (`lost`).

    `digest` is the SHA-256 of configuration and totals; None if the sweep was interrupted.
    """

    totals: SweepTotals
    shards: int = 1
    lost: tuple[Shard, ...] = ()
    digest: str | None = None


def sweep_configuration(seed: str, seeds: int) -> Configuration:
    """What decides on the results of a sweep over all installed games."""
    return Configuration(
        "dispute run --all", __version__, "all games", seed, _inputs(), {"seeds": seeds}
    )


def sweep_plan(configuration: Configuration, adversaries: int, at_once: int = 1) -> Plan:
    """The sweep's work in adversaries, at least so many of them in a shard (`at_once`)."""
    most = max(at_once, -(-adversaries // MOST_SHARDS))
    return Plan(configuration.digest, adversaries, unit=1, seeds_per_shard=most)


def sweep_size(seed: str, seeds: int) -> int:
    """The number of adversaries in so many seeds; honest play and each old copy count as one."""
    return seeds * sum(1 for _ in beginnings(seed, 0))


def run_all(
    seed: str,
    seeds: int,
    jobs: int = 1,
    *,
    workers: Workers | None = None,
    journal: Journal[SweepTotals] | None = None,
    on_result: Callable[[SweepTotals], object] = lambda totals: None,
    on_status: Callable[[CampaignStatus], None] = lambda status: None,
) -> SweepReport:
    """Run everything for this many seeds; an interrupt ends it early, with the totals so far.

    By default, `workers` are so many processes (`jobs`). `on_result` gets the totals so far with
    each result.
    """
    configuration = sweep_configuration(seed, seeds)
    size = sweep_size(seed, seeds)
    return run_sweep(
        partial(_of_all, seed, size // seeds),
        configuration,
        sweep_plan(configuration, size),
        workers or processes(min(jobs, size), inline=True),
        journal,
        on_result,
        on_status,
    )


def run_sweep(
    sweep: Sweep,
    configuration: Configuration,
    plan: Plan,
    workers: Workers,
    journal: Journal[SweepTotals] | None = None,
    on_result: Callable[[SweepTotals], object] = lambda totals: None,
    on_status: Callable[[CampaignStatus], None] = lambda status: None,
) -> SweepReport:
    """Run a sweep over the adversaries of a plan, as a campaign of this configuration."""
    so_far = SweepTotals()

    def add(_: Shard, part: SweepTotals) -> Counts:
        so_far.merge(part)
        on_result(so_far)
        return {"findings": mistakes(so_far), "runs": so_far.runs}

    run = engine.run(SweepJob(sweep, configuration.inputs), plan, workers, journal, add, on_status)
    totals = SweepTotals(interrupted=run.interrupted)
    for part in in_order({**run.partial, **run.results}):
        totals.merge(part)
    digest = sha256(plan.configuration.encode() + _json(totals)).hexdigest()
    return SweepReport(totals, plan.size, tuple(run.lost), None if run.interrupted else digest)


def _of_all(seed: str, adversaries: int, number: int) -> Iterator[SweepTotals]:
    """The runs of one adversary of one seed; they are numbered through all seeds."""
    turn, at = divmod(number, adversaries)
    (first,) = islice(beginnings(f"{seed}/{turn}", turn), at, at + 1)
    yield from everywhere(first, turn + at)


def _inputs() -> dict[str, str]:
    """What a sweep depends on besides this package: the programs of the games, by digest."""
    games = {
        f"game {game.name}": sha256(
            b"".join(one.hash for _, one in sorted(game.programs.items()))
        ).hexdigest()
        for game in registry.channel_games()
    }
    return (
        games
        | {"adversaries": ",".join(names())}
        | plugin_inputs(lambda group, name: group in ("games", "policies", "adversaries"))
    )


@dataclass(frozen=True)
class SweepJob:
    """The disputes with some adversaries; `inputs` are those of their configuration."""

    sweep: Sweep
    inputs: Mapping[str, str]

    returns_early = True

    def worker(self) -> ShardWork:
        """Get ready to run disputes. Raises `UsageError` where a plug-in is another one."""
        check_plugins(self.inputs)
        return self._run

    def decode(self, data: bytes) -> SweepTotals:
        """The totals in the JSON of a shard."""
        return msgspec.json.decode(data, type=SweepTotals, dec_hook=_counter)

    def _run(self, shard: Shard) -> bytes:
        totals = SweepTotals()
        for begun in shard.seeds[::TOGETHER]:
            # Runs of one hand sign the same until an adversary deviates.
            with bls.remembered():
                for number in shard.seeds[begun - shard.first :][:TOGETHER]:
                    for part in self.sweep(number):
                        totals.merge(part)
                        parent().send(ShardProgress(number - shard.first, {"runs": totals.runs}))
                        if parent().wants_stop():
                            return _json(totals)
        return _json(totals)


def _json(totals: SweepTotals) -> bytes:
    return msgspec.json.encode(totals, order="deterministic")


def _counter(kind: type, value: Any) -> Counter[str]:
    """Read a `Counter`, which the library leaves to us."""
    if get_origin(kind) is not Counter:
        raise NotImplementedError(kind)
    return Counter(msgspec.convert(value, dict[str, int]))
