"""`channelsim compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.options import file_argument, real

FORMATS = ("text", "json", "markdown")


def command(
    before: Annotated[
        Path,
        file_argument(
            "A document that --json printed, a campaign's folder, or a snapshot of costs."
        ),
    ],
    after: Annotated[Path, file_argument("A later one, of the same kind and target.")],
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "text",
    tolerance: Annotated[
        float, real(0, 1_000_000, "The percentage by which costs may rise.")
    ] = 0.0,
) -> int:
    """Compare two campaigns, or two snapshots of costs.

    It shows what is new, fixed, more expensive or cheaper. Exit code 1: something is worse.

    Example: channelsim compare main.json branch.json --format markdown
    """
    from channelsim.channel.cli.work.compare import compare_documents

    return compare_documents(before, after, format, tolerance)
