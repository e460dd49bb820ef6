"""A look into a store that its peer may be using, or that lies on a read-only disk.

The files are copied, and the copy is opened: nothing is written to the original, and its lock is
left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

from channelsim.channel.errors import UsageError
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.sqlite_store import FILE, SqliteStore
from channelsim.channel.system.input_files import MB, read

FILES = (FILE, f"{FILE}-wal")

ATTEMPTS, PAUSE = 40, 0.05
"""How often a copy is tried while a peer writes, and the seconds in between."""

MOST_BYTES = 256 * MB
"""The largest file of a store that is copied: that of some 60,000 batches."""

_Stamp = tuple[tuple[int, int] | None, ...]


@contextmanager
def copied_store(directory: Path) -> Iterator[SqliteStore]:
    """A store with the contents that this directory's has now. Raises `StoreError`."""
    if not (directory / FILE).exists():
        raise StoreError(f"{directory}: no store is here; name a data directory")
    with TemporaryDirectory(prefix="channelsim-", ignore_cleanup_errors=True) as folder:
        try:
            store = _copied(directory, Path(folder))
        except OSError as error:
            reason = error.strerror or f"{error}"
            raise StoreError(f"{directory}: cannot be copied to be read ({reason})") from None
        with closing(store):
            yield store


def _copied(directory: Path, folder: Path) -> SqliteStore:
    """Copy the files until nothing was written meanwhile, and the copy is sound."""
    for attempt in range(ATTEMPTS):
        if attempt:
            sleep(PAUSE)
        before = _stamp(directory)
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
            if (directory / name).exists():
                (folder / name).write_bytes(_contents(directory / name))
        if _stamp(directory) != before:
            continue
        try:
            store = SqliteStore(folder)
            store.load()
            store.name = str(directory / FILE)  # for people
        except StoreError as error:
            if _stamp(directory) != before:
                continue
            raise StoreError(f"{error}".replace(str(folder), str(directory))) from None
        return store
    raise StoreError(f"{directory}: its peer writes all the time; try again")


def _contents(path: Path) -> bytes:
    try:
        return read(path, MOST_BYTES)
    except UsageError as error:
        raise StoreError(f"{error}") from None


def _stamp(directory: Path) -> _Stamp:
    found: list[tuple[int, int] | None] = []
    for name in FILES:
        try:
            status = os.stat(directory / name)
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size))
    return tuple(found)
