"""Files that commands write as they go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from channel.errors import UsageError
from channel.transcript import Sink


@contextmanager
def transcript_file(path: Path | None) -> Iterator[Sink]:
    """Where the lines of a transcript go; nowhere without a path."""
    if path is None:
        yield lambda line: None
        return
    try:
        with path.open("wb") as file:

            def sink(line: bytes) -> None:
                file.write(line)

            yield sink
    except OSError as error:
        raise UsageError(f"--transcript {path}: cannot be written ({error.strerror})") from None
