"""Ctrl-C and SIGTERM: both end a command early, with its results so far.

The first signal of either kind raises `KeyboardInterrupt` in the main thread; code with partial
results catches it and reports them. A second one raises `Ended`, which ends the command at
once and leaves nothing behind.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)

REPEAT = 0.2
"""Seconds in which a repeated signal counts as the same one: `timeout` and other wrappers send
theirs to the command and to its process group."""


class Ended(SystemExit):
    """A second signal ends the command at once."""


INTERRUPTS = (KeyboardInterrupt, Ended)
"""What signals raise. Every other exception is a failure of the code that raises it."""


class _State:
    """`first`: the first signal and when it came; `held`: by how many contexts it is held back.

    No dataclass: their import takes long, in which a signal would not be heard yet.
    """

    def __init__(self, listening: bool = False) -> None:
        self.listening = listening
        self.first: int | None = None
        self.at = 0.0
        self.held = 0
        self.raised = False


_state = _State()


@contextmanager
def listening(last: bool = False) -> Iterator[None]:
    """Handle both signals; a no-op inside itself and outside of the main thread.

    `last`: the process ends behind this; more signals would only disturb it, once there was one.
    """
    global _state
    if _state.listening or threading.current_thread() is not threading.main_thread():
        yield
        return
    _state = _State(listening=True)
    before = [(signum, signal.signal(signum, _hear)) for signum in SIGNALS]
    try:
        yield
    finally:
        for signum, handler in before:
            ending = last and _state.first is not None
            signal.signal(signum, signal.SIG_IGN if ending else handler)
        _state.listening = False


def _hear(signum: int, frame: FrameType | None) -> None:
    if _state.first is None:
        _state.first, _state.at = signum, monotonic()
        if not _state.held:
            _state.raised = True
            raise KeyboardInterrupt
    elif monotonic() - _state.at > REPEAT:
        raise Ended(128 + signum)


@contextmanager
def held() -> Iterator[None]:
    """Delay the first signal until the end of this block, which is short and must be atomic."""
    state = _state
    state.held += 1
    try:
        yield
    finally:
        state.held -= 1
        if state.first is not None and not (state.held or state.raised):
            state.raised = True
            raise KeyboardInterrupt


@contextmanager
def polled() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether a signal came; in this block the first does not raise."""
    with listening():
        state = _state
        state.held += 1
        try:
            yield lambda: state.first is not None
        finally:
            state.held -= 1
            state.raised = state.raised or state.first is not None


@contextmanager
def finishing() -> Iterator[None]:
    """Report results in this block: a first signal no longer interrupts."""
    with polled():
        yield


def exit_code(interrupted: bool = True, failed: bool = False) -> int:
    """The exit code of a command: 1 if it found a failure, even if it was interrupted.

    An interrupted command without failures exits with 130 (Ctrl-C) or 143 (SIGTERM).

    >>> exit_code(interrupted=False), exit_code(interrupted=True, failed=True)
    (0, 1)
    """
    if failed:
        return 1
    return 128 + (_state.first or signal.SIGINT) if interrupted else 0
