"""A store on disk whose statements fail: SQLite is real, and what fails is around it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.store_duties import FIRST_WRITE, wrong_settings

NextAction = Callable[[], Action | None]
"""Counts a statement; returns the action that is due with it."""

WRITES = ("INSERT", "DELETE", "COMMIT", "BEGIN", "PRAGMA wal_checkpoint")
"""The beginnings of the statements that write."""

SYNCHRONISES = ("COMMIT", "PRAGMA wal_checkpoint")
"""The beginnings of those after which all that was written is on the disk."""


@dataclass(slots=True)
class Disk:
    """The disk below a store: what is on it, where that is less than what was written.

    Without `files` it is all of it. They are by name, as of the last time that they were
    synchronised.
    """

    folder: Path
    files: dict[str, bytes] = field(default_factory=dict)

    def not_synchronised(self) -> None:
        """Keep what is on the disk: what is written next may not be."""
        if not self.files:
            paths = sorted(self.folder.glob("*.sqlite*"))
            self.files = {path.name: path.read_bytes() for path in paths}

    def lose_power(self) -> None:
        """Lose what is not on the disk."""
        if self.files:
            for path in self.folder.glob("*.sqlite*"):
                path.unlink()
            for name, data in self.files.items():
                if not name.endswith("-shm"):
                    (self.folder / name).write_bytes(data)
            self.files = {}


def failing_connection(
    next_action: NextAction, disk: Disk, found: Callable[[str], None] = lambda how: None
) -> type[sqlite3.Connection]:
    """The class of a connection to SQLite whose statements fail where an action says so.

    A statement that writes fails before it is done; but a synchronisation fails after the next
    transaction is written. `found` hears of wrong settings of the store.
    """
    unsynchronised: list[Action] = []

    class Failing(sqlite3.Connection):
        """A connection that fails."""

        _has_written = False

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            """Execute a statement, or fail. Raises `sqlite3.OperationalError`."""
            action = next_action() if sql.startswith(WRITES) else None
            if action is not None and action.kind == "sync-fails":
                unsynchronised.append(action)
                action = None
            if action is not None:
                is_full = action.kind == "store-full"
                raise sqlite3.OperationalError(
                    "database or disk is full" if is_full else "disk I/O error"
                )
            if unsynchronised and sql == "COMMIT":
                unsynchronised.clear()
                disk.not_synchronised()
                super().execute(sql, parameters)
                raise sqlite3.OperationalError("disk I/O error")
            cursor = super().execute(sql, parameters)
            if not self._has_written and sql.startswith(FIRST_WRITE):
                self._has_written = True
                for how in wrong_settings(self):
                    found(how)
            if sql.startswith(SYNCHRONISES):
                disk.files = {}
            return cursor

    return Failing
