"""The work of `channelsim compare`."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.comparisons.documents import compare, read_document
from channelsim.channel.comparisons.presentation import as_data, as_lines, as_markdown
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.games.names import nearest

FORMATS = ("text", "json", "markdown")


def compare_documents(before: Path, after: Path, format: str, tolerance: float) -> int:
    """Compare two campaigns, or two snapshots of costs."""
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
