"""`channelsim record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import (
    DAY,
    Json,
    NoProgress,
    Seed,
    argument,
    file_option,
    option_group,
    real,
    whole,
)


@option_group
class RecordOptions:
    """The options of `record`."""

    target: Annotated[str, argument("A TOML file whose [play] names a driver.")]
    output: Annotated[
        Path | None, file_option("The file to write (that of [play] honest).", "-o", "--output")
    ] = None
    hands: Annotated[int, whole(1, 10_000, "How many hands the driver plays.")] = 50
    seconds: Annotated[float, real(0.1, DAY, "Give up after this many seconds.")] = 60.0
    seed: Seed = "record"
    json: Json = False
    quiet: NoProgress = False


def command(options: RecordOptions) -> int:
    """Record honest play of programs without rules as conformance cases, with a driver in Python.

    Each move is tried on the programs. If they judge a move differently from the driver, the
    command stops and writes nothing. Exit code 1: there is such a move, or a validator has no case.

    Example: channelsim record my-validators.toml --hands 100
    """
    from channelsim.channel.cli.work.record import record_play

    return record_play(options)
