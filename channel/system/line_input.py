"""Lines of the standard input, for a thread that can be told to stop waiting for them.

A thread that waits in `input` cannot be ended, and a process that ends meanwhile aborts.
"""

from __future__ import annotations

import os
import select
from threading import Event

PERIOD = 0.2
"""Seconds after which a stop is noticed."""

STDIN = 0
CHUNK = 1 << 12
LONGEST = 1 << 16
"""Bytes of a line; longer ones are cut."""


class LineInput:
    """Reads lines of standard input. Call it for the next one; raises EOFError at the end."""

    def __init__(self) -> None:
        self._data = b""
        self._ended = False
        self._stopped = Event()

    def __call__(self) -> str:
        """Wait for the next line, and return it without its end."""
        while b"\n" not in self._data and not self._ended and len(self._data) < LONGEST:
            if self._stopped.is_set():
                raise EOFError
            if select.select([STDIN], [], [], PERIOD)[0]:
                more = os.read(STDIN, CHUNK)
                self._data += more
                self._ended = not more
        if self._ended and not self._data:
            raise EOFError
        line, _, self._data = self._data.partition(b"\n")
        return line.decode(errors="replace")

    def stop(self) -> None:
        """End the waiting with EOFError."""
        self._stopped.set()
