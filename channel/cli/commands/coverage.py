"""`channelsim coverage`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    ReportFiles,
)
from channelsim.channel.cli.options import (
    Json,
    NoProgress,
    TargetName,
    file_option,
    flag,
    option_group,
    whole,
)


@option_group
class CoverageOptions:
    """The options of `coverage`."""

    target: TargetName
    corpus: Annotated[
        Path | None,
        file_option(
            "A folder with a .jsonl of cases for each validator, or a campaign of `fuzz` (the cases"
            " of the game's package, of the last `fuzz` and of campaigns here, and honest play)."
        ),
    ] = None
    everything: Annotated[bool, flag("Also our referee and our libraries.", "--all")] = False
    at_least: Annotated[
        int | None,
        whole(0, 100, "Fail if less than this percentage of a program's branches is reached."),
    ] = None
    html: Annotated[
        Path | None, file_option("Write a page with the code, marked, to this file.")
    ] = None
    lcov_file: Annotated[
        Path | None,
        file_option("Write the lines of the sources in the format of lcov to this file.", "--lcov"),
    ] = None
    json: Json = False
    reports: ReportFiles = NO_REPORTS
    quiet: NoProgress = False


def command(options: CoverageOptions) -> int:
    """Show which nodes and branches of each program stored cases and honest play reach.

    If a reason is stored why no run can reach a place, it is shown as well.

    Exit code 1: a validator has no case, a case does not end as it expects, or less than --at-least
    is reached.

    Example: channelsim coverage my-validators.toml --lcov coverage.info --at-least 90
    """
    from channelsim.channel.cli.work.coverage import measure_coverage

    return measure_coverage(options)
