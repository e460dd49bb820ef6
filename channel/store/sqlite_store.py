"""A store on disk: one SQLite file in a data directory that one process holds at a time.

Every transaction is synchronised with the disk before it returns. Rows carry a digest, so that
bytes changed by a failing disk are noticed. A file that is not ours, is damaged, or was
written by code that reacts differently to events is refused before anything is written.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.store.interface import Contents, StoreError
from channelsim.channel.store.replaying import OURS, check_code, other_code
from channelsim.channel.system.durable_files import unwritable

FILE = "peer.sqlite"
LOCK = "lock"

APPLICATION = 0x63735031
"""The number that marks our files (`PRAGMA application_id`)."""

VERSION = 4
"""The version of the file (`PRAGMA user_version`); other versions are refused."""

_TABLES = """
    CREATE TABLE events (number INTEGER PRIMARY KEY, data BLOB NOT NULL, digest BLOB NOT NULL);
    CREATE TABLE states (number INTEGER PRIMARY KEY, data BLOB NOT NULL, digest BLOB NOT NULL);
    CREATE TABLE snapshots (
        number INTEGER PRIMARY KEY,
        opening INTEGER NOT NULL, events INTEGER NOT NULL, states INTEGER NOT NULL,
        data BLOB NOT NULL, digest BLOB NOT NULL
    );
    CREATE TABLE facts (name TEXT PRIMARY KEY, data BLOB NOT NULL, digest BLOB NOT NULL)
        WITHOUT ROWID;
"""

OVERVIEW, CODE = "overview", "code"
"""The rows of `facts`: the overview, and the code that began the journal."""


class SqliteStore:
    """A `PeerStore` in a directory, which is made if need be. Raises `StoreError`.

    `most_pages` bounds the size of the file in pages of 4 kB (0: no bound but the disk's).
    `connection` is the class of the connection to SQLite.
    """

    def __init__(
        self,
        directory: Path,
        most_pages: int = 0,
        connection: type[sqlite3.Connection] = sqlite3.Connection,
    ) -> None:
        self._path = directory / FILE
        self._connection = connection
        self.name = str(self._path)
        self._lock = _locked(directory)
        try:
            with self._reported():
                self._open(most_pages)
        except BaseException:
            os.close(self._lock)
            raise

    def load(self) -> Contents:
        """Read and check what a restart needs."""
        with self._reported():
            row = self._database.execute("SELECT * FROM snapshots").fetchone()
            _, opening, covered, states, snapshot, _ = row or (0, 0, 0, 0, b"", b"")
            if row:
                self._check("the snapshot", f"snapshots {opening} {covered} {states}", row[4:])
            contents = Contents(
                tuple(self._rows("events", 0, opening)),
                snapshot,
                tuple(self._rows("states", 0, states)),
                tuple(self._rows("events", covered, self._events)),
            )
        self._opening, self._states = opening, states
        return contents

    def overview(self) -> bytes:
        """Read the overview, which is not sealed; empty before the first."""
        with self._reported():
            return self._fact(OVERVIEW)

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Add events and replace the overview, in one transaction."""
        with self._reported(), self._transaction() as database:
            for number, data in enumerate(events, self._events):
                database.execute(
                    "INSERT INTO events VALUES (?, ?, ?)", _row("events", number, data)
                )
            if overview:
                self._write_fact(OVERVIEW, overview)
        self._events += len(events)

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Replace the snapshot, add the new states, and remove the events that it has."""
        opening, total = self._opening or self._events, self._states + len(states)
        place = f"snapshots {opening} {self._events} {total}"
        with self._reported(), self._transaction() as database:
            for number, data in enumerate(states, self._states):
                database.execute(
                    "INSERT INTO states VALUES (?, ?, ?)", _row("states", number, data)
                )
            database.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (0, ?, ?, ?, ?, ?)",
                (opening, self._events, total, snapshot, _digest(place, snapshot)),
            )
            if erases:
                self._write_events_anew(opening)
            else:
                database.execute(
                    "DELETE FROM events WHERE number >= ? AND number < ?", (opening, self._events)
                )
        self._opening, self._states = opening, total
        if erases:
            with self._reported():
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _write_events_anew(self, end: int) -> None:
        """Keep the events up to a number, and overwrite all pages that events were in.

        A row that SQLite has moved to another page leaves a copy, which deleting it leaves, too.
        """
        kept = self._database.execute("SELECT * FROM events WHERE number < ?", (end,)).fetchall()
        self._database.execute("DELETE FROM events")
        for row in kept:
            self._database.execute("INSERT INTO events VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Close the file and let other processes use the directory."""
        self._database.close()
        os.close(self._lock)

    # --- opening ---

    def _open(self, most_pages: int) -> None:
        if self._path.exists():
            _check_header(self._path)
        else:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._database = sqlite3.connect(self._path, isolation_level=None, factory=self._connection)
        try:
            if not self._query("SELECT count(*) FROM sqlite_master"):
                self._create()  # also after a process that was killed before it could
            self._check_format()
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            # What is deleted is overwritten: erased secrets are among it.
            self._database.execute("PRAGMA secure_delete = ON")
            if most_pages:
                self._database.execute(f"PRAGMA max_page_count = {most_pages:d}")
            # Fail now if the disk is read-only, and not after the first message.
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("ROLLBACK")
            self._synchronise()
            self._events = self._query(
                "SELECT max((SELECT coalesce(max(number), -1) + 1 FROM events),"
                " (SELECT coalesce(max(events), 0) FROM snapshots))"
            )
        except BaseException:
            self._database.close()
            raise
        self._opening = self._states = 0

    def _synchronise(self) -> None:
        """Bring to the disk what an earlier process has written, but may not have synchronised.

        It was killed before it could, or its disk failed then. Nothing may follow from that which
        a loss of power can still take back.
        """
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _create(self) -> None:
        self._database.executescript(
            f"BEGIN; {_TABLES} PRAGMA application_id = {APPLICATION};"
            f" PRAGMA user_version = {VERSION};"
        )
        self._write_fact(CODE, msgspec.msgpack.encode(OURS))
        self._database.execute("COMMIT")

    def _check_format(self) -> None:
        if self._query("PRAGMA application_id") != APPLICATION:
            raise _foreign(self._path)
        version = int(self._query("PRAGMA user_version"))
        if version != VERSION:
            raise other_code(self.name, f"schema {version}", f"schema {VERSION}")
        if _schema(self._database) != _our_schema():
            raise self._damaged("its tables are others than ours")
        if self._query("PRAGMA quick_check") != "ok":
            raise self._damaged("its tables are not consistent")
        check_code(self.name, self._fact(CODE))

    def _query(self, statement: str) -> Any:
        return self._database.execute(statement).fetchone()[0]

    # --- reading ---

    def _rows(self, table: str, first: int, end: int) -> Iterator[bytes]:
        found = self._database.execute(
            f"SELECT number, data, digest FROM {table} WHERE number >= ? AND number < ?"
            " ORDER BY number",
            (first, end),
        )
        expected = first
        for number, data, digest in found:
            if number != expected:
                break
            self._check(f"row {number} of {table}", f"{table} {number}", (data, digest))
            yield data
            expected += 1
        if expected != end:
            raise self._damaged(f"row {expected} of {table} is missing")

    def _fact(self, name: str) -> bytes:
        row = self._database.execute(
            "SELECT data, digest FROM facts WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            return b""
        self._check(f"the {name}", f"facts {name}", row)
        data: bytes = row[0]
        return data

    def _write_fact(self, name: str, data: bytes) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO facts VALUES (?, ?, ?)",
            (name, data, _digest(f"facts {name}", data)),
        )

    def _check(self, what: str, place: str, row: tuple[object, object]) -> None:
        data, digest = row
        if not isinstance(data, bytes) or _digest(place, data) != digest:
            raise self._damaged(f"{what} was changed")

    # --- errors ---

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self._path}: {_remedy(error, self._path)}") from None

    def _damaged(self, how: str) -> StoreError:
        return StoreError(f"{self._path}: damaged: {how}; nothing was written to it")


def _locked(directory: Path) -> int:
    """Make the directory, and hold it for this process. Raises `StoreError`."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(unwritable(directory, error)) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise StoreError(
            f"{directory}: another process uses it; a channel has one process at a time"
        ) from None
    return descriptor


def _check_header(path: Path) -> None:
    """Check that a file is ours, before SQLite opens it and may write to it."""
    if not path.is_file():
        raise _foreign(path)
    with path.open("rb") as file:
        header = file.read(16)
    # An empty file is left by a process that was killed before it made the tables.
    if header and header != b"SQLite format 3\0":
        raise _foreign(path)


def _schema(database: sqlite3.Connection) -> list[Any]:
    """The definitions of a file: a view or a trigger could make any statement of ours endless."""
    return database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


@cache
def _our_schema() -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as ours:
        ours.executescript(_TABLES)
        return _schema(ours)


def _is_full(path: Path) -> bool:
    """True if the disk is full: SQLite reports some writes then as failures of the disk."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail == 0


def _foreign(path: Path) -> StoreError:
    return StoreError(f"{path}: not a store of channelsim; name another directory")


def _row(table: str, number: int, data: bytes) -> tuple[int, bytes, bytes]:
    return number, data, _digest(f"{table} {number}", data)


def _digest(place: str, data: bytes) -> bytes:
    return sha256(place.encode() + b"\0" + data).digest()[:16]


def _remedy(error: Exception, path: Path) -> str:
    """What failed, and what to do, in one line."""
    text = str(error)
    if "disk is full" in text or "No space" in text or _is_full(path):
        return "the disk is full; make room and start again: the peer has stopped, nothing is lost"
    if any(word in text.lower() for word in ("readonly", "read-only", "unable to open")):
        return "it cannot be written; the file or its disk is read-only"
    if any(word in text for word in ("not a database", "malformed", "no such")):
        return f"damaged ({text}); nothing was written to it"
    return f"the disk fails ({text}); the peer has stopped"
