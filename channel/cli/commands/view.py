"""`channelsim view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import file_argument, file_option


def command(
    file: Annotated[Path, file_argument("Whatever `report` writes a page of.")],
    output: Annotated[
        Path | None, file_option("Where to write the page (a temporary file).", "-o", "--output")
    ] = None,
) -> int:
    """Write the page of a file, open it in the browser, and print where it lies.

    Example: channelsim view session.jsonl
    """
    from channelsim.channel.cli.work.view import view

    return view(file, output)
