"""`channelsim report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import argument, file_argument, file_option


def command(
    file: Annotated[
        Path,
        file_argument(
            "A transcript, a finding, the folder of a campaign, or a document that --json printed;"
            " /dev/stdin for a pipe."
        ),
    ],
    format: Annotated[
        str | None,
        argument("A format, from a plug-in, for a document or a finished campaign."),
    ] = None,
    output: Annotated[
        Path | None, file_option("Write the page to this file.", "-o", "--output")
    ] = None,
) -> int:
    """Write a page of a session, finding or campaign, or print a document in a plug-in's format.

    A page is one file that loads nothing: `channelsim view FILE` opens it in the browser.

    Example: channelsim report session.jsonl -o report.html
    """
    from channelsim.channel.cli.work.report import report

    return report(file, format, output)
