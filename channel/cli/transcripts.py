"""Transcripts that commands write while they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from channelsim.channel.cli.messages import complain
from channelsim.channel.errors import UsageError
from channelsim.channel.system.output import Output, opened

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
