"""`channelsim vectors check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    ReportFiles,
)
from channelsim.channel.cli.options import (
    NoProgress,
    Watch,
    file_argument,
    file_option,
    option_group,
)


@option_group
class VectorsCheckOptions:
    """The options of `vectors check`."""

    files: Annotated[
        list[Path], file_argument("Files of conformance cases, or of conversations of decks.")
    ]
    target: Annotated[
        Path | None, file_option("A TOML file: try its programs, and nothing else.")
    ] = None
    again: Watch = False
    reports: ReportFiles = NO_REPORTS
    quiet: NoProgress = False


def command(options: VectorsCheckOptions) -> int:
    """Run conformance cases, and conversations of decks, through the Python rules and the programs.

    Exit code 1: a case fails, or a program of the target has no case.

    Example: channelsim vectors check cases.jsonl more.jsonl
    """
    from channelsim.channel.cli.work.vectors_check import check_vectors

    return check_vectors(options)
