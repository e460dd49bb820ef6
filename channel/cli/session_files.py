"""Files that commands write while a session or dispute runs: its transcript and its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.option_groups import SessionFiles
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import print_json
from channelsim.channel.system.file_kinds import is_page
from channelsim.channel.system.output import Output, opened

Page = Callable[[str], None]
"""Takes the HTML of a page."""


class Display(NamedTuple):
    """How a session or dispute is shown: `show` prints its document, and `page` takes its page."""

    as_json: bool
    quiet: bool
    show: Callable[[Any], None] = print_json
    page: Page | None = None


@contextmanager
def displayed(files: SessionFiles, *, quiet: bool) -> Iterator[tuple[Display, Output]]:
    """Open the files that the options name: the display, and the transcript."""
    with (
        report_file(files.report, transcript=files.transcript) as page,
        transcript_file(files.transcript) as file,
    ):
        yield Display(files.form.as_json, quiet, page=page), file


BROKEN_OFF = ".broken-off"
"""Appended to the name of a transcript whose session did not end in order."""


@contextmanager
def transcript_file(path: Path | None) -> Iterator[Output]:
    """Open the file for a transcript; without a path, discard what is written.

    A session that ends in order calls `finish`, which puts the file in its place. The transcript
    of any other session is saved beside it, and stderr says where.
    """
    with opened("--transcript", path) as file:
        try:
            yield file
        except UsageError as error:
            saved = _save_beside(file)
            raise UsageError(f"{error} ({saved})" if saved else str(error)) from None
        finally:
            if saved := _save_beside(file):
                complain(saved)


def _save_beside(file: Output) -> str:
    """Save an unfinished transcript, and say where; empty where there is nothing to save."""
    if not file.renamed:
        return ""
    beside = file.finish_beside(BROKEN_OFF)
    return f"the session broke off: its transcript is {beside}"


_BEGINS = 256
"""Bytes that tell whether a file is a page."""


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
