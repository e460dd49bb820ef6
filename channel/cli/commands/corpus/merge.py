"""`channelsim corpus merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import Json, NoProgress, file_argument, file_option


def command(
    files: Annotated[
        list[Path], file_argument("Folders of cases, as `fuzz --corpus` has them, or files.")
    ],
    output: Annotated[Path, file_option("The folder to write.", "-o", "--output")],
    json: Json = False,
    quiet: NoProgress = False,
) -> int:
    """Merge corpora of one game: every case once, in whatever order they are named.

    The folder to write is new, empty, or one of those that are merged.

    Example: channelsim corpus merge monday tuesday -o both
    """
    from channelsim.channel.cli.work.corpus_merge import merge

    return merge(files, output, json=json, quiet=quiet)
