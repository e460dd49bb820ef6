"""`channelsim fuzz`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import FuzzCampaign
from channelsim.channel.cli.options import (
    DAY,
    Seed,
    TargetName,
    Watch,
    file_option,
    flag,
    option_group,
    real,
    whole,
)

MOST_WORK = 10**15
"""Units: centuries."""


@option_group
class FuzzOptions:
    """The options of `fuzz`."""

    target: TargetName
    seconds: Annotated[
        float | None,
        real(0.1, 30 * DAY, "Search for about this many seconds (60; with --watch, 10)."),
    ] = None
    seed: Seed = "fuzz"
    corpus: Annotated[
        Path | None,
        file_option(
            "A folder of cases to start from; cases that reach more are added, but not to the"
            " corpus in a game's package."
        ),
    ] = None
    update_corpus: Annotated[
        bool, flag("Add cases to the folder of --corpus even if it is in the package of a game.")
    ] = False
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
    campaign: FuzzCampaign


def command(options: FuzzOptions) -> int:
    """Fuzz validators for moves that steal and evidence that slashes honest players.

    The same seed and number of jobs repeat a run; with --work, the same seed is enough, and --out
    is the folder of a campaign. Exit code 0: nothing found; 1: findings, each saved in a file, or a
    validator that was never tried; 2: wrong use.

    Example: channelsim fuzz my-validators.toml --seconds 120
    """
    from channelsim.channel.cli.work.fuzz import fuzz

    return fuzz(options)
