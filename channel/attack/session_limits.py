"""The limits of one attacked session, so that one which loops ends, and says so.

Steps and violations are counted: the same script ends at the same one. The processor time is
bounded, too, for code that never comes back from one event; no session comes near that.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from types import FrameType

MOST_STEPS = 30_000
"""The most events of both sides, with their effects."""

MOST_VIOLATIONS = 60
"""The most violations: after so many a session ends early, as what it does may grow and grow."""

MOST_SECONDS = 90.0
"""The most seconds of the processor."""

LOOK = 1.0
"""The seconds between two looks at the processor's clock."""


class Endless(KeyboardInterrupt):
    """A session does not end: no part of it may take this for a failure of its own."""


@contextmanager
def limited(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Bound the processor time of this block, in the main thread. Raises `Endless`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    until = process_time() + seconds

    def look(number: int, frame: FrameType | None) -> None:
        if process_time() > until:
            raise Endless

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
