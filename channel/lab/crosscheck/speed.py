"""The speed of the crosscheck relative to bare CLVM runs of the same inputs."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter

from chia_rs import run_chia_program

from channelsim.channel.lab.crosscheck.chunks import CHUNK, run_chunk, trials
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import MAX_COST, STRICT


def speed(target: Target, seed: str, seconds: float, least: int) -> dict[str, tuple[float, ...]]:
    """`ratio`: cases a second of the whole crosscheck (hands, mutations, both verdicts, every
    law) as a share of those of `run_chia_program` alone; and `cases_per_second`, in one process.
    Both are measured for this many seconds, and at least `least` times.

    Each round times both on one chunk. The first chunk, in which the expensive laws come more often
    so that short runs try them, is left out.
    """
    ratios: list[float] = []
    rates: list[float] = []
    run_chunk(target, seed, 1, CHUNK)
    until = perf_counter() + seconds
    while perf_counter() < until or len(ratios) < least:
        number = len(ratios) + 1
        start = perf_counter()
        run_chunk(target, seed, number, CHUNK)
        whole = perf_counter() - start
        inputs = [
            (target.programs[trial.site.validator].serialized, case.arguments)
            for trial in trials(target, seed, number, CHUNK)
            for case in trial.cases
        ]
        start = perf_counter()
        run_bare(inputs)
        ratios.append((perf_counter() - start) / whole)
        rates.append(CHUNK / whole)
    return {"ratio": tuple(ratios), "cases_per_second": tuple(rates)}


def run_bare(inputs: Collection[tuple[bytes, bytes]]) -> None:
    """Run programs on their arguments, both serialized, whatever comes of it."""
    for program, arguments in inputs:
        try:
            run_chia_program(program, arguments, MAX_COST, STRICT)
        except ValueError:
            continue
