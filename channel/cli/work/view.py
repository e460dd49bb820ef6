"""The work of `channelsim view`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from tempfile import mkstemp

from channelsim.channel.cli.reports import page_of
from channelsim.channel.cli.session_files import report_file
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import is_page


def view(file: Path, output: Path | None) -> int:
    """Write the page of a file, open it in the browser, and print where it lies."""
    if _is_page(file):
        raise UsageError(f"{file}: already a page; open it in the browser")
    page, code = _written(file, output)
    if page is None:
        return code
    webbrowser.open(page.absolute().as_uri())
    say(console(), f"{page.absolute()}")
    return 0


def _is_page(file: Path) -> bool:
    if file.is_dir():
        return False
    return is_page(input_files.read(file, input_files.LINES))


def _written(file: Path, output: Path | None) -> tuple[Path | None, int]:
    """The path of a new page of this file; None, with an exit code, if there is none."""
    if output is None:
        handle, name = mkstemp(".html", "channelsim-")
        open(handle).close()
        output = Path(name)
    with report_file(output, "--output") as page:
        html, code = page_of(file)
        if html and page is not None:
            page(html)
    return (output if html else None), code
