"""`channelsim compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import file_argument, real, text

FORMATS = ("text", "json", "markdown")


def command(
    before: Annotated[
        Path,
        file_argument(
            "A document that --json printed, a campaign's folder, or a snapshot of costs."
        ),
    ],
    after: Annotated[Path, file_argument("A later one, of the same kind and target.")],
    format: Annotated[str, text(f"One of {', '.join(FORMATS)}.")] = "text",
    tolerance: Annotated[
        float, real(0, 1_000_000, "The percentage by which costs may rise.")
    ] = 0.0,
) -> int:
    """Compare two campaigns, or two snapshots of costs.

    It shows what is new, fixed, more expensive or cheaper. Exit code 1: something is worse.

    Example: channelsim compare main.json branch.json --format markdown
    """
    from channelsim.channel.comparisons.documents import compare, read_document
    from channelsim.channel.comparisons.presentation import as_data, as_lines, as_markdown
    from channelsim.channel.errors import UsageError
    from channelsim.channel.report.terminal import console, print_json, say
    from channelsim.games.names import nearest

    if format not in FORMATS:
        raise UsageError(f"--format {format}{nearest(format, FORMATS)}: {', '.join(FORMATS)}")
    found = compare(read_document(before), read_document(after), tolerance)
    if format == "json":
        print_json(as_data(found))
    elif format == "markdown":
        print(as_markdown(found), end="")
    else:
        for line in as_lines(found):
            say(console(), line)
    return 1 if found.worse else 0
