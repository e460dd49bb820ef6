"""Transcripts that commands write as they go."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from channel.errors import UsageError
from channel.system.output import Output, opened

BROKEN_OFF = ".broken-off"
"""Behind the name of a transcript whose session did not come to its end."""


@contextmanager
def transcript_file(path: Path | None) -> Iterator[Output]:
    """Where the lines of a transcript go; nowhere without a path.

    Only a whole session, which finishes the file, takes its place there. One that broke off is
    kept beside it, which stderr says.
    """
    with opened("--transcript", path) as file:
        try:
            yield file
        except UsageError as error:
            kept = _keep(file)
            raise UsageError(f"{error} ({kept})" if kept else str(error)) from None
        finally:
            if kept := _keep(file):
                print(f"channelsim: {kept}", file=sys.stderr)


def _keep(file: Output) -> str:
    """Keep what an unfinished session wrote, and say where; empty where there is nothing to do."""
    if not file.renamed:
        return ""
    beside = file.finish_beside(BROKEN_OFF)
    return f"the session broke off: its transcript is {beside}"
