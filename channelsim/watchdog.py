"""A bound on the time and the memory of an author's code, in whatever thread it runs.

Rules, drivers and plug-ins are Python files of others; one call of theirs that never ends would
hold up a command for ever. Something looks at the running call now and then, and raises `Overrun`
in it; that costs nothing in between. Processor time is bounded, so that a busy machine stops
nobody; the clock bounds calls that only wait.

In the main thread, within `watching`, signals look: they also interrupt a call that sleeps. In all
other threads another thread looks, which can stop only Python code. What catches `Overrun` again
and again, or waits where it cannot be stopped, ends the process, with one line and exit code 2.
Nothing can stop a call in C that holds Python's lock (`sum(range(10**12))`): neither thread nor
handler runs until it is done.

This module imports nothing of ours, so that every package may use it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 30.0
"""The processor time that one call of an author's function may take."""

MEMORY = 2 << 30
"""The bytes by which the memory of the process may grow during one call."""

TICK = 0.25
"""The seconds between two looks: of processor time in the main thread, else of the clock."""

WAITING = 600.0
"""The seconds of the clock that one call may take, whatever it does meanwhile."""

WAITING_LOOKS = 20
"""The looks at the clock in that time, in the main thread."""

STUBBORN = 20
"""How often `Overrun` is raised in one call before the process ends."""

_UNIT = 1 if sys.platform == "darwin" else 1024
"""The bytes in which the system counts memory."""


class Overrun(BaseException):
    """A call of an author's function took too long, or too much memory; the message names it.

    `plugins.described` adds the file and the line. It is no `Exception`, so that the function does
    not catch it by accident.
    """


# --- whose code it is ---------------------------------------------------------------------------

_authors: set[str] = set()
"""Files and folders of other authors' code that was loaded."""


def note_author(path: str) -> None:
    """Note a file, or a folder of files, as other authors' code."""
    _authors.add(path)


def is_authors(file: str) -> bool:
    """True if a file is other authors' code that was loaded."""
    while file not in _authors:
        folder = os.path.dirname(file)
        if folder == file:
            return False
        file = folder
    return True


# --- looks --------------------------------------------------------------------------------------


class _Watch:
    """The author's call that is under way in one thread, as the looks saw it.

    `clock` tells the processor time of the thread, in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._call: FrameType | None = None
        self._worked = self._since = 0.0
        self._memory = self._raised = 0
        self._looking = False

    def problem(self, frame: FrameType | None) -> str:
        """What is wrong with the call in this frame; empty for a right one.

        Ends the process if the call was stopped too often. A look may take longer than a tick, on
        a deep stack: no look begins during another one.
        """
        if self._looking:
            return ""
        self._looking = True
        try:
            problem = self._judged(frame)
        finally:
            self._looking = False
        self._raised = self._raised + 1 if problem else 0
        if self._raised > STUBBORN and self._call is not None:
            _end(f"{problem}, and cannot be stopped ({self._call.f_code.co_filename})")
        return problem

    def _judged(self, frame: FrameType | None) -> str:
        call = [None, *_authors_frames(frame)][-1]  # the outermost one
        if call is None or call is not self._call:
            self._call, self._worked, self._memory = call, self._clock(), _memory()
            self._since = time.monotonic()
            return ""
        name = call.f_code.co_name
        if self._clock() - self._worked >= SECONDS:
            return f"{name}: not done after {SECONDS:g} seconds of processor time"
        if time.monotonic() - self._since >= WAITING:
            return f"{name}: not done after {WAITING:g} seconds"
        if _memory() - self._memory > MEMORY:
            return f"{name}: takes more than {MEMORY >> 20:,} MB of memory"
        return ""


def _end(line: str) -> None:
    """End the process with a line."""
    os.write(2, f"channelsim: {line}\n".encode(errors="replace"))
    os._exit(2)


def _authors_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of authors' code that are under way, the innermost first."""
    known: dict[str, bool] = {}
    while frame is not None:
        file = frame.f_code.co_filename
        if file not in known:
            known[file] = is_authors(file)
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


# --- the main thread, by signals ----------------------------------------------------------------

_LOOKS = (signal.SIGPROF, signal.SIGVTALRM)
"""The signals of a look: after some processor time, and after some time of the clock."""


@contextmanager
def watching() -> Iterator[None]:
    """Bound every call of an author's function in this block."""
    thread = threading.get_ident()
    if threading.current_thread() is not threading.main_thread():  # Python handles no signals there
        watch_thread()
        yield
        return
    watch = _Watch(time.thread_time)

    def look(signum: int, frame: FrameType | None) -> None:
        if problem := watch.problem(frame):
            raise Overrun(problem)

    outside, WATCHED[thread] = WATCHED.get(thread), None
    before = [signal.signal(number, look) for number in _LOOKS]
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    done = threading.Event()
    clock = threading.Thread(target=_wake, args=(thread, done), daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in zip(_LOOKS, before, strict=True):
            signal.signal(number, handler)
        del WATCHED[thread]
        if outside is not None:
            WATCHED[thread] = outside


def _wake(thread: int, done: threading.Event) -> None:
    """Look at a thread's call now and then, also while it sleeps."""
    while not done.wait(WAITING / WAITING_LOOKS):
        signal.pthread_kill(thread, signal.SIGVTALRM)


# --- any other thread, by another one -----------------------------------------------------------

WATCHED: dict[int, _Watch | None] = {}
"""The threads in which an author's code may run; None for one that signals look at."""

_guard: threading.Thread | None = None


def watch_thread() -> None:
    """Bound every call of an author's function in this thread from now on, as `watching` does."""
    global _guard
    thread = threading.get_ident()
    if thread not in WATCHED:
        WATCHED[thread] = _Watch(_clock_of(thread))
    if _guard is None or not _guard.is_alive():  # a child process has no threads of its parent
        _guard = threading.Thread(target=_look_at_threads, name="watchdog", daemon=True)
        _guard.start()


def _clock_of(thread: int) -> Callable[[], float]:
    """The processor time of a thread; that of the process where the system tells no other."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)


def _look_at_threads() -> None:
    while True:
        time.sleep(TICK)
        frames = sys._current_frames()  # noqa: SLF001
        for thread, watch in list(WATCHED.items()):
            try:
                if watch is not None and (problem := watch.problem(frames[thread])):
                    _raise_in(thread, problem)
            except (KeyError, OSError):  # it has ended; OSError: since the frames were taken
                WATCHED.pop(thread, None)
        frames.clear()


def _raise_in(thread: int, problem: str) -> None:
    """Raise `Overrun` in another thread, which takes a class and makes the exception itself."""
    raised = type("Overrun", (Overrun,), {"__str__": lambda self: problem})
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(raised))
