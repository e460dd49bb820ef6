"""Bounds on the time and the memory of an author's code that this process runs.

Rules, drivers and plug-ins are Python files of others; one call of theirs that never ends would
hold up a command for ever. A timer looks at the running call now and then. It costs nothing in
between, and needs no wrapper around any call. Processor time is bounded, so that a busy machine
stops nobody; a thread looks at the clock as well, for calls that only wait.
"""

from __future__ import annotations

import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from channelsim import plugins

SECONDS = 30.0
"""The processor time that one call of an author's function may take."""

MEMORY = 2 << 30
"""The bytes by which the memory of the process may grow during one call."""

TICK = 0.25
"""The processor time between two looks, in seconds."""

WAITING = 600.0
"""The seconds of the clock that one call may take, whatever it does meanwhile."""

WAITING_LOOKS = 20
"""The looks at the clock in that time."""

_UNIT = 1 if sys.platform == "darwin" else 1024
"""The bytes in which the system counts memory."""


class Overrun(BaseException):
    """A call of an author's function took too long, or too much memory; the message names it.

    `plugins.described` adds the file and the line. It is no `Exception`, so that the function does
    not catch it by accident.
    """


class _Watchdog:
    """The author's call that is under way, as the timer saw it."""

    def __init__(self) -> None:
        self._call: FrameType | None = None
        self._since = 0.0
        self._ticks = 0
        self._memory = 0
        self._looking = False

    def look(self, signum: int, frame: FrameType | None) -> None:
        """Raise `Overrun` in the call that has run, or waited, too long.

        A look may take longer than a tick, on a deep stack: no look begins during another one.
        """
        if self._looking:
            return
        self._looking = True
        try:
            self._judge(frame, signum == signal.SIGPROF)
        finally:
            self._looking = False

    def _judge(self, frame: FrameType | None, worked: bool) -> None:
        chain = list(_authors_frames(frame))
        call = chain[-1] if chain else None
        if call is None or call is not self._call:
            self._call, self._ticks, self._memory = call, 0, _memory()
            self._since = time.monotonic()
            return
        self._ticks += worked
        what = ""
        if self._ticks * TICK >= SECONDS:
            what = f"not done after {SECONDS:g} seconds of processor time"
        elif time.monotonic() - self._since >= WAITING:
            what = f"not done after {WAITING:g} seconds"
        elif _memory() - self._memory > MEMORY:
            what = f"takes more than {MEMORY >> 20:,} MB of memory"
        if what:
            raise Overrun(f"{call.f_code.co_name}: {what}")


def _authors_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of authors' code that are under way, the innermost first."""
    known: dict[str, bool] = {}
    while frame is not None:
        file = frame.f_code.co_filename
        if file not in known:
            known[file] = plugins.is_authors(file)
        if known[file]:
            yield frame
        frame = frame.f_back


def _memory() -> int:
    """The memory of the process in bytes; where the system does not tell, the most so far."""
    try:
        with open("/proc/self/statm", "rb") as counts:
            return int(counts.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


@contextmanager
def watching() -> Iterator[None]:
    """Bound every call of an author's function in this block.

    Without effect outside of the main thread, in which alone Python handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    look = _Watchdog().look
    before = [signal.signal(number, look) for number in _LOOKS]
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    done = threading.Event()
    clock = threading.Thread(target=_wake, args=(threading.get_ident(), done), daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in zip(_LOOKS, before, strict=True):
            signal.signal(number, handler)


_LOOKS = (signal.SIGPROF, signal.SIGVTALRM)
"""The signals of a look: after some processor time, and after some time of the clock."""


def _wake(thread: int, done: threading.Event) -> None:
    """Look at a thread's call now and then, also while it sleeps."""
    while not done.wait(WAITING / WAITING_LOOKS):
        signal.pthread_kill(thread, signal.SIGVTALRM)


# --- a limit of the clock -------------------------------------------------------------------------


class OutOfTime(BaseException):
    """The block took too long. No `Exception`, so that the code in it does not catch it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the block after this many seconds of the clock.

    Without effect outside of the main thread, in which alone Python handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise(signum: int, frame: FrameType | None) -> None:
    raise OutOfTime
