"""A limit of time for code that may never return."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The block took too long. No `Exception`, so that the code in it does not catch it."""


@contextmanager
def time_limit(
    seconds: float, error: type[BaseException] = OutOfTime, *, of_processor: bool = False
) -> Iterator[None]:
    """Raise an error in the block after this many seconds of the clock, or of the processor.

    Without effect outside of the main thread, in which alone Python handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, number = (
        (signal.ITIMER_PROF, signal.SIGPROF)
        if of_processor
        else (signal.ITIMER_REAL, signal.SIGALRM)
    )

    def stop(signum: int, frame: FrameType | None) -> None:
        raise error

    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
