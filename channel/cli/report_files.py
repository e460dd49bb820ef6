"""The file for the HTML page of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from channelsim.channel.system.output import opened

Page = Callable[[str], None]
"""Takes the HTML of a page."""


@contextmanager
def report_file(path: Path | None) -> Iterator[Page | None]:
    """Open the file for `--report`, and yield what writes a page to it; None without a path."""
    with opened("--report", path) as output:

        def write(html: str) -> None:
            output.write(html.encode())
            output.finish()

        yield None if path is None else write
