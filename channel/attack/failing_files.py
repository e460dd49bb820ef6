"""The watcher's files on a disk that fails: a line is not written, or half of it; power is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from channelsim.channel.attack.actions import Action
from channelsim.channel.errors import UsageError
from channelsim.channel.system.line_log import LineLog
from channelsim.channel.watch.watch_data import NEWEST, STATES

NextAction = Callable[[], Action | None]
"""Counts a write; returns the action that is due with it."""


def failing_log(next_action: NextAction) -> type[LineLog]:
    """The class of a file of lines that cannot be added to where an action says so."""

    class Failing(LineLog):
        """A file that fails."""

        def append(self, lines: Iterable[bytes], sync: bool = True) -> None:
            """Add lines, or fail. Raises `UsageError`, as for a disk that is full."""
            lines = list(lines)
            action = next_action()
            if action is None:
                return super().append(lines, sync)
            if action.kind == "watch-torn":
                data = b"".join(line + b"\n" for line in lines)
                os.ftruncate(self._file, self._size)  # as before each write
                os.write(self._file, data[: len(data) // 2])
            raise UsageError(f"{self._path}: cannot be written (no space left on device)")

    return Failing


def lose_power(folder: Path, amount: int) -> None:
    """Lose what a watcher's files had not on the disk: some last bytes, and the newest state.

    What the store has is on the disk. The larger the `amount`, the more is lost.
    """
    states, newest = folder / STATES, folder / NEWEST
    if states.exists():
        os.truncate(states, max(0, states.stat().st_size - 97 * amount))
    if newest.exists() and amount % 2:
        os.truncate(newest, 0)
