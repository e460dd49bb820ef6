"""The work of `channelsim report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.cli.options import refuse
from channelsim.channel.cli.reports import page_of
from channelsim.channel.cli.session_files import report_file
from channelsim.channel.documents.document_files import summary_file
from channelsim.channel.errors import UsageError
from channelsim.channel.report import formats
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind


def report(file: Path, format: str | None, output: Path | None) -> int:
    """Write a page of a session, finding or campaign, or print a document in a plug-in's format."""
    if format is None and output is None:
        raise UsageError("report: -o FILE for a page, or the name of a format")
    if format is not None:
        refuse("is for a page, which has no format", output=output)
        document = _document(file)
        say(console(), formats.get(format)(document))
        return 0
    with report_file(output, "--output") as page:
        html, code = page_of(file)
        if html and page is not None:
            page(html)
    return code


def _document(path: Path) -> dict[str, Any]:
    """The JSON object in a file, or the summary of a campaign's folder. Raises `UsageError`."""
    if path.is_dir():
        path = summary_file(path)
    data = input_files.read(path, input_files.FINDING)
    check_kind(path, data, Kind.DOCUMENT, Kind.SESSION, Kind.FINDING)
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not a JSON object: {error}") from None
