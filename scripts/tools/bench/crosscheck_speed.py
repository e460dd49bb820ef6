"""The speed of the crosscheck relative to bare CLVM runs of the same inputs."""

from __future__ import annotations

from collections.abc import Collection

from chia_rs import run_chia_program

from channelsim.channel.lab.crosscheck.chunks import CHUNK, run_chunk, trials
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.run import MAX_COST, STRICT
from channelsim.games.contract import Game
from scripts.tools.bench.measuring import Figures, repeated, seconds_of


def measure_crosscheck(game: Game, seed: str, seconds: float, least: int) -> Figures:
    """`ratio`: cases a second of the whole crosscheck (hands, mutations, both verdicts, every
    law) as a share of those of `run_chia_program` alone; and `cases_per_second`, in one process.
    Both are measured for this many seconds, and at least `least` times.

    Each round times both on one chunk. The first chunk, in which the expensive laws come more often
    so that short runs try them, is left out.
    """
    target = of_game(game)

    def measure(before: int) -> dict[str, float]:
        """Measure the next chunk, by the crosscheck and in bare runs."""
        number = before + 1
        whole = seconds_of(lambda: run_chunk(target, seed, number, CHUNK))
        inputs = [
            (target.programs[trial.site.validator].serialized, case.arguments)
            for trial in trials(target, seed, number, CHUNK)
            for case in trial.cases
        ]
        bare = seconds_of(lambda: run_bare(inputs))
        return {"ratio": bare / whole, "cases_per_second": CHUNK / whole}

    run_chunk(target, seed, 1, CHUNK)
    return repeated(seconds, least, measure)


def run_bare(inputs: Collection[tuple[bytes, bytes]]) -> None:
    """Run programs on their arguments, both serialized, whatever comes of it."""
    for program, arguments in inputs:
        try:
            run_chia_program(program, arguments, MAX_COST, STRICT)
        except ValueError:
            continue
