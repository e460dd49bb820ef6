"""A bound on the time and the memory of an author's code, in whatever thread it runs.

Rules, drivers and plug-ins are Python files of others; one call of theirs that never ends would
hold up a command for ever. Something looks at the running call now and then, and raises `Overrun`
in it; that costs nothing in between. Processor time is bounded, so that a busy machine stops
nobody; the clock bounds calls that only wait.

In the main thread, within `watching`, signals look at whatever author's code runs there; they also
interrupt a call that sleeps. In all other threads a thread of its own looks at the calls that
`plugins.called` makes: it can stop only Python code, and must not touch the frames of others, whose
objects may not be freed by it. What catches `Overrun` again and again, or waits where it cannot be
stopped, ends the process, with one line and exit code 2. Nothing can stop a call in C that holds
Python's lock (`sum(range(10**12))`): neither thread nor handler runs until it is done.

This module imports nothing of ours, so that every package may use it.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

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
    """The call that is under way in one thread, as the looks saw it."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._call: object = None
        self._worked = self._since = 0.0
        self._memory = self._raised = 0

    def problem(self, call: object, name: str, worked: float) -> str:
        """What is wrong with a call; empty for a right one. None is no call.

        `worked` is the processor time of its thread, in seconds. Ends the process if the call was
        stopped too often.
        """
        now = time.monotonic()
        if call is None or call is not self._call:
            self._call, self._worked, self._since = call, worked, now
            self._memory, self._raised = _memory(), 0
            return ""
        if worked - self._worked >= SECONDS:
            problem = f"{name}: not done after {SECONDS:g} seconds of processor time"
        elif now - self._since >= WAITING:
            problem = f"{name}: not done after {WAITING:g} seconds"
        elif _memory() - self._memory > MEMORY:
            problem = f"{name}: takes more than {MEMORY >> 20:,} MB of memory"
        else:
            return ""
        self._raised += 1
        if self._raised > STUBBORN:
            case = CASES.get(self._thread)
            _leave(f"{problem}, and cannot be stopped{f' ({case_of(*case)})' if case else ''}")
        return problem


def _leave(line: str) -> None:
    """End the process with a line."""
    os.write(2, f"channelsim: {line}\n".encode(errors="replace"))
    os._exit(2)


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
    """Bound every call of an author's function in this block.

    Without effect outside of the main thread, in which alone Python handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    thread = threading.get_ident()
    is_nested = thread in CALLS
    CALLS[thread] = None
    _look = _Looks().look
    before = [signal.signal(number, _look) for number in _LOOKS]
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
        if not is_nested:
            del CALLS[thread]


class _Looks:
    """A handler of signals that looks at the main thread."""

    def __init__(self) -> None:
        self._watch = _Watch(threading.get_ident())
        self._looking = False

    def look(self, signum: int, frame: FrameType | None) -> None:
        """Raise `Overrun` in the call that has run, or waited, too long.

        A look may take longer than a tick, on a deep stack: no look begins during another one.
        """
        if self._looking:
            return
        self._looking = True
        try:
            call = [None, *_authors_frames(frame)][-1]  # the outermost one
            name = call.f_code.co_name if call else ""
            problem = self._watch.problem(call, name, time.thread_time())
        finally:
            self._looking = False
        if problem:
            raise Overrun(problem)


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


def _wake(thread: int, done: threading.Event) -> None:
    """Look at a thread's call now and then, also while it sleeps."""
    while not done.wait(WAITING / WAITING_LOOKS):
        signal.pthread_kill(thread, signal.SIGVTALRM)


# --- any other thread, by another one -------------------------------------------------------------

CALLS: dict[int, tuple[int, str, int] | None] = {}
"""The author's call in each thread: its number, its name, and the clock of its thread's processor
time. None for a thread that signals look at."""

Case: TypeAlias = str | Callable[..., str]
"""The case for which an author's function is called, in words; or a function of the arguments that
says it."""

CASES: dict[int, tuple[Case, tuple[Any, ...]]] = {}
"""The case and the arguments of the outermost call by `plugins.called`, in each thread."""

_numbers = itertools.count(1)
_guard: threading.Thread | None = None


def begin_call(name: str) -> None:
    """Bound the author's call that begins in this thread, until it is taken out of `CALLS`."""
    global _guard
    thread = threading.get_ident()
    has_clock = hasattr(time, "pthread_getcpuclockid")  # macOS has none: take that of the process
    clock = time.pthread_getcpuclockid(thread) if has_clock else time.CLOCK_PROCESS_CPUTIME_ID
    CALLS[thread] = next(_numbers), name, clock
    if _guard is None or not _guard.is_alive():  # a child process has no threads of its parent
        _guard = threading.Thread(target=_look_at_calls, name="watchdog", daemon=True)
        _guard.start()


def case_of(case: Case, arguments: tuple[Any, ...]) -> str:
    """A case in words."""
    return case if isinstance(case, str) else case(*arguments)


def _look_at_calls() -> None:
    watches: dict[int, _Watch] = {}
    while True:
        time.sleep(TICK)
        watches = {thread: watches.get(thread, _Watch(thread)) for thread in list(CALLS)}
        for thread, watch in watches.items():
            if (call := CALLS.get(thread)) is None:
                continue
            try:
                worked = time.clock_gettime(call[2])
            except OSError:  # its thread has ended
                continue
            if (problem := watch.problem(call, call[1], worked)) and CALLS.get(thread) is call:
                _raise_in(thread, problem)


def _raise_in(thread: int, problem: str) -> None:
    """Raise `Overrun` in another thread, which takes a class and makes the exception itself."""
    raised = type("Overrun", (Overrun,), {"__str__": lambda self: problem})
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(raised))
