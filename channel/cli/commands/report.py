"""`channelsim report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from channelsim.channel.cli.options import file_argument
from channelsim.channel.errors import UsageError
from channelsim.channel.report import formats
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind


def command(
    file: Annotated[
        Path, file_argument("A document that --json printed, or a finding; /dev/stdin for a pipe.")
    ],
    format: Annotated[str, typer.Argument(help="A format, from a plug-in.")],
) -> int:
    """Print the JSON document of a command in a format that a plug-in adds.

    Example: channelsim fuzz {game} --json | channelsim report /dev/stdin markdown
    """
    document = _document(file)
    say(console(), formats.get(format)(document))
    return 0


def _document(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises `UsageError`."""
    data = input_files.read(path, input_files.FINDING)
    check_kind(path, data, Kind.FINDING)
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not a JSON object: {error}") from None
