"""A look into a store that its peer may be using, or that lies on a read-only disk.

The files are copied, and the copy is opened: nothing is written to the original, and its lock is
left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from time import sleep

from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.sqlite_store import FILE, SqliteStore

FILES = (FILE, f"{FILE}-wal")

ATTEMPTS, PAUSE = 40, 0.05
"""How often a copy is tried while a peer writes, and the seconds in between."""

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
                copyfile(directory / name, folder / name)
        if _stamp(directory) != before:
            continue
        try:
            store = SqliteStore(folder)
            store.load()
        except StoreError as error:
            if _stamp(directory) != before:
                continue
            raise StoreError(f"{error}".replace(str(folder), str(directory))) from None
        return store
    raise StoreError(f"{directory}: its peer writes all the time; try again")


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
