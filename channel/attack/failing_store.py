"""A store on disk whose statements fail: SQLite is real, and what fails is around it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from channelsim.channel.attack.actions import Action

NextAction = Callable[[], Action | None]
"""Counts a statement; returns the action that is due with it."""


def failing_connection(next_action: NextAction) -> type[sqlite3.Connection]:
    """The class of a connection to SQLite whose statements fail where an action says so.

    A statement that writes fails before it is done, or, if it ends a transaction, after it.
    """

    class Failing(sqlite3.Connection):
        """A connection that fails."""

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            """Execute a statement, or fail. Raises `sqlite3.OperationalError`."""
            action = next_action() if sql.startswith(WRITES) else None
            if action is None:
                return super().execute(sql, parameters)
            if action.kind == "sync-fails" and sql == "COMMIT":
                super().execute(sql, parameters)
            error = "database or disk is full" if action.kind == "store-full" else "disk I/O error"
            raise sqlite3.OperationalError(error)

    return Failing


WRITES = ("INSERT", "DELETE", "COMMIT", "BEGIN", "PRAGMA wal_checkpoint")
"""The beginnings of the statements that write."""
