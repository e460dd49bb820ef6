"""Duties of a store on disk: it is synchronised, overwrites what it deletes, and has one owner.

No failure of a simulated disk shows these: they are asked of SQLite and of the file system.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from stat import S_IRWXG, S_IRWXO
from typing import Protocol

from channelsim.channel.attack.trial_store import TrialStore
from channelsim.channel.store.interface import Contents, StoreError
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.store_copy import copied_store


class NotedContents(Protocol):
    """A store of this name that knows its contents, sealed, and those `before` its snapshot."""

    name: str
    contents: Contents
    before: Contents


FULL = 2
"""The setting of SQLite with which each transaction is synchronised (`PRAGMA synchronous`)."""

FIRST_WRITE = "INSERT INTO events"
"""The beginning of a statement before which a store has made all its settings."""


def wrong_settings(database: sqlite3.Connection) -> Iterator[str]:
    """Find settings of a store with which what it says is not what is on the disk."""
    (synchronous,) = sqlite3.Connection.execute(database, "PRAGMA synchronous").fetchone()
    (overwrites,) = sqlite3.Connection.execute(database, "PRAGMA secure_delete").fetchone()
    if synchronous < FULL:
        yield "does not synchronise its transactions with the disk"
    if not overwrites:
        yield "does not overwrite what it deletes"


def readable_by_others(files: Iterable[Path]) -> Iterator[str]:
    """Find files that other users of the machine may read, or change."""
    for path in files:
        if path.stat().st_mode & (S_IRWXG | S_IRWXO):
            yield f"lets other users read {path.name}"


def shared(folder: Path) -> Iterator[str]:
    """Find a store, held by a process that runs, that another one could open as well."""
    try:
        SqliteStore(folder).close()
    except StoreError:
        return
    yield "can be opened by two processes at once"


def early_snapshot(events: int, least: int, *, erases: bool) -> Iterator[str]:
    """Find a snapshot after fewer `events` than it is due after, though it erases nothing."""
    if events < least and not erases:
        yield f"takes a snapshot after {events} events, which is due after {least}"


def badly_sealed(store: NotedContents, secret: bytes) -> Iterator[str]:
    """Find a store that takes what was sealed for another place, or with another secret."""
    contents, earlier = store.contents, store.before.events
    events = contents.events
    if events and _is_taken(store.name, contents, bytes(len(secret))):
        yield "can be read without the secret of its channel"
    if len(events) > 1 and events[-1] != events[-2]:
        swapped = replace(contents, events=(*events[:-2], events[-1], events[-2]))
        if _is_taken(store.name, swapped, secret):
            yield "takes two events in another order than they were sealed in"
    mixed = replace(contents, events=earlier)
    # A snapshot with which nothing has changed has the same bytes, and so the same places.
    is_other = store.before.snapshot not in (b"", contents.snapshot)
    if is_other and earlier and _is_taken(store.name, mixed, secret):
        yield "takes events that follow an older snapshot"


def wrong_copy(folder: Path, contents: Contents) -> Iterator[str]:
    """Find what a command reads otherwise that looks into the store of a process that runs."""
    try:
        with copied_store(folder) as store:
            read, overview = store.load(), store.overview()
    except StoreError as error:
        yield f"cannot be read beside its process: {error}".replace(str(folder), folder.name)
        return
    if read != contents or not overview:
        yield "is read otherwise beside its process"


def _is_taken(name: str, contents: Contents, secret: bytes) -> bool:
    try:
        SealedStore(TrialStore(name, contents), secret).load()
    except StoreError:
        return False
    return True
