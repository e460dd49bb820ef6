"""`channelsim vectors make`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import (
    MOST_CASES,
    NoProgress,
    Seed,
    argument,
    file_option,
    option_group,
    whole,
)


@option_group
class VectorsMakeOptions:
    """The options of `vectors make`."""

    game: Annotated[str, argument("A game (see `channelsim games`).")]
    output: Annotated[Path, file_option("The file to write.", "-o", "--output")]
    cases: Annotated[int, whole(1, MOST_CASES, "How many cases.")] = 1000
    seed: Seed = "vectors"
    quiet: NoProgress = False


def command(options: VectorsMakeOptions) -> int:
    """Write conformance cases around generated hands; rules and programs agree on each.

    Exit code 1: they disagree on one, which is printed, and nothing is written; or fewer cases
    than these can be written.

    Example: channelsim vectors make {game} --cases 2000 -o cases.jsonl
    """
    from channelsim.channel.cli.work.vectors_make import make_vectors

    return make_vectors(options)
