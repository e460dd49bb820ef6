"""`channelsim conform`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import (
    CampaignOptions,
)
from channelsim.channel.cli.options import (
    DAY,
    MOST_CASES,
    Seed,
    TargetName,
    file_option,
    option_group,
    real,
    whole,
)


@option_group
class ConformOptions:
    """The options of `conform`."""

    target: TargetName
    cases: Annotated[
        int, whole(10, MOST_CASES, "How many cases to try, for the laws and for the costs.")
    ] = 5000
    seconds: Annotated[
        float, real(0.1, DAY, "About how many seconds each of two fuzzers works.")
    ] = 10.0
    disputes: Annotated[
        int, whole(0, 100, "How many deviations of each adversary to try; 0: no disputes.")
    ] = 1
    coverage: Annotated[int, whole(0, 100, "The percentage of branches that must be reached.")] = (
        100
    )
    corpus: Annotated[
        Path | None, file_option("A folder of cases to start from (that of the game's package).")
    ] = None
    costs: Annotated[
        Path | None,
        file_option("A file written by `channelsim cost --write`; no cost may be higher."),
    ] = None
    proofs: Annotated[
        Path | None,
        file_option(
            "A file written by `channelsim prove --proof` (`proofs.json` in the game's package, or"
            " beside the target's file)."
        ),
    ] = None
    seed: Seed = "conform"
    campaign: CampaignOptions


def command(options: ConformOptions) -> int:
    """Check everything that a game owes: vectors, laws, coverage, rules, costs, disputes and more.

    A check that cannot be made is a row that says why. Exit code 1: a check failed.

    Example: channelsim conform my-validators.toml --junit conform.xml
    """
    from channelsim.channel.cli.work.conform import conform_target

    return conform_target(options)
