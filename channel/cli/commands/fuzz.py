"""`channelsim fuzz`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    Cluster,
    ReportFiles,
    Resume,
)
from channelsim.channel.cli.options import (
    DAY,
    Jobs,
    Json,
    NoProgress,
    Seed,
    TargetName,
    Watch,
    file_option,
    real,
    whole,
)

MOST_WORK = 10**15
"""Units: centuries."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FuzzOptions:
    """The options of `fuzz`."""

    target: TargetName
    seconds: Annotated[
        float | None,
        real(0.1, 30 * DAY, "Search for about this many seconds (60; with --watch, 10)."),
    ] = None
    seed: Seed = "fuzz"
    jobs: Jobs = None
    corpus: Annotated[
        Path | None,
        file_option(
            "A folder of cases to start from; cases that reach more are added, but not to the"
            " corpus in a game's package."
        ),
    ] = None
    update_corpus: Annotated[
        bool,
        typer.Option(
            "--update-corpus",
            help="Add cases to the folder of --corpus even if it is in the package of a game.",
        ),
    ] = False
    out: Annotated[
        Path | None,
        file_option(
            "The folder of findings (.channelsim/NAME/findings); stored ones are tried first."
        ),
    ] = None
    json: Json = False
    reports: ReportFiles = NO_REPORTS
    again: Watch = False
    work: Annotated[
        int | None,
        whole(
            1,
            MOST_WORK,
            "Do this much work instead, in units: a case is 9 units, and one for each 30,000 of its"
            " CLVM cost. A process does about 330,000 a second. The least is one round of 32"
            " cases, so that --work 2 and --work 40 do the same.",
        ),
    ] = None
    resume: Resume = False
    cluster: Cluster = None
    quiet: NoProgress = False


def command(options: FuzzOptions) -> int:
    """Fuzz validators for moves that steal and evidence that slashes honest players.

    The same seed and number of jobs repeat a run; with --work, the same seed is enough, and --out
    is the folder of a campaign. Exit code 0: nothing found; 1: findings, each saved in a file, or a
    validator that was never tried; 2: wrong use.

    Example: channelsim fuzz my-validators.toml --seconds 120
    """
    from channelsim.channel.cli.work.fuzz import fuzz

    return fuzz(options)
