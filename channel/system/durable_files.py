"""Files that appear whole, for their owner alone: a kill leaves the old one or the new one.

Functions that write raise `OSError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_once(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, and wait for the disk. It replaces nothing."""
    with _written(path, data, sync=True) as part:
        os.link(part, path)  # unlike a rename, it replaces nothing
    sync_folder(path.parent)


def replace_file(path: Path, data: bytes, *, sync: bool) -> None:
    """Write or replace a file, and (`sync`) wait for the disk."""
    with _written(path, data, sync=sync) as part:
        part.replace(path)
    if sync:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unwritable(path: Path, error: OSError) -> str:
    """The one line about a file or directory of a peer that cannot be written.

    >>> unwritable(Path("/boot/me"), PermissionError(13, "Permission denied"))
    '/boot/me: permission denied; name a directory that can be written'
    """
    reason = (error.strerror or "it cannot be written").lower()
    return f"{path}: {reason}; name a directory that can be written"


@contextmanager
def _written(path: Path, data: bytes, *, sync: bool) -> Iterator[Path]:
    """A file beside its place, until it is moved or this ends."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(descriptor)
        yield part
    finally:
        part.unlink(missing_ok=True)
