"""The file for the HTML page of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system.file_kinds import is_page
from channelsim.channel.system.output import opened

_BEGINS = 256
"""Bytes that tell whether a file is a page."""

Page = Callable[[str], None]
"""Takes the HTML of a page."""


@contextmanager
def report_file(
    path: Path | None, option: str = "--report", transcript: Path | None = None
) -> Iterator[Page | None]:
    """Open the file of this option, and yield what writes a page to it; None without a path.

    Raises `UsageError` for a file that is there and no page: perhaps a transcript, or a file of a
    campaign. `transcript` is the other file that the command writes.
    """
    if path is not None:
        if transcript is not None and path.absolute() == transcript.absolute():
            raise UsageError(f"{option} {path}: the file of --transcript; name another one")
        _check_place(option, path)
    with opened(option, path) as output:

        def write(html: str) -> None:
            """Write the page."""
            output.write(html.encode())
            output.finish()

        yield None if path is None else write


def _check_place(option: str, path: Path) -> None:
    """Refuse to replace a file with content that is no page. Raises `UsageError`."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            begins = file.read(_BEGINS)
    except OSError:
        return  # said when the page is written
    if begins and not is_page(begins):
        raise UsageError(
            f"{option} {path}: this file is not a page of channelsim; name another one"
        )
