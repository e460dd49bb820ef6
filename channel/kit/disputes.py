"""Disputes of one game against every adversary, a few deviations of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from channelsim.channel.adversaries.base import get, names
from channelsim.channel.crypto import bls
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import SweepTotals, everywhere
from channelsim.channel.system.interrupt import held
from channelsim.channel.system.workers import Work, WorkerPool

GROUPS = 4
"""The adversaries are divided among so many hands; those of one hand share its signatures, and
are run in one process."""


def disputes(game: str, most: int, seed: str, jobs: int) -> SweepTotals:
    """Play a game against every adversary, with at most this many deviations of each.

    An adversary begins in the middle of a hand; where it finds nothing to change there, earlier,
    and then with the first message. Sides, hands, weather and fees alternate. An interrupt ends it
    early.
    """
    groups = [(group, game, f"{seed}/{group}") for group in range(GROUPS)]
    parts = [SweepTotals() for _ in groups]
    totals = SweepTotals()
    try:
        with WorkerPool(partial(_worker, most), min(jobs, GROUPS)) as pool:
            for number, part in pool.run(groups):
                with held():
                    parts[number].merge(part)
    except KeyboardInterrupt:
        totals.interrupted = True
    for part in parts:
        totals.merge(part)
    return totals


def _worker(most: int) -> Work[tuple[int, str, str], SweepTotals]:
    return lambda group: _run(most, *group)


def _run(most: int, group: int, game: str, seed: str) -> Iterator[SweepTotals]:
    with bls.remembered():
        for number, name in enumerate(names()):
            if number % GROUPS != group:
                continue
            turn = number // GROUPS
            first = Scenario((game,), seed, name, side=turn % 2)
            middle = get(name).default_step
            for step in dict.fromkeys((middle, middle // 2, 0)):
                tried = list(islice(everywhere(replace(first, step=step), turn), most))
                yield from tried
                if any(part.idle < part.runs for part in tried):
                    break
