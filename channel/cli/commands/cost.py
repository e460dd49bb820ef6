"""`channelsim cost`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    ReportFiles,
)
from channelsim.channel.cli.options import (
    MOST_CASES,
    Json,
    NoProgress,
    SeedOrNone,
    TargetName,
    file_option,
    option_group,
    real,
    whole,
)

CASES, SEED = 5000, "cost"
"""Used where neither the command line nor a snapshot says otherwise."""


@option_group
class CostOptions:
    """The options of `cost`."""

    target: TargetName
    cases: Annotated[int | None, whole(1, MOST_CASES, f"How many cases ({CASES}).")] = None
    seed: SeedOrNone = None
    write: Annotated[Path | None, file_option("Write the figures to this file.")] = None
    check: Annotated[Path | None, file_option("Fail if a figure is higher than in this file.")] = (
        None
    )
    tolerance: Annotated[
        float | None, real(0, 1_000_000, "The percentage by which figures may rise (0).")
    ] = None
    json: Json = False
    reports: ReportFiles = NO_REPORTS
    quiet: NoProgress = False


def command(options: CostOptions) -> int:
    """Measure the cost of validators, the referee's paths and whole spends, as shares of a block.

    Exit code 1: --check fails, the node refuses a spend, or a validator was never tried.

    Example: channelsim cost my-validators.toml --check costs.toml --tolerance 1
    """
    from channelsim.channel.cli.work.cost import measure_costs

    return measure_costs(options)
