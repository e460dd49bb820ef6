"""An event loop that must not stop: whatever blocks or spins on it fails the test."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType

BEAT = 10.0
"""Seconds in which the event loop must run again, on a busy machine."""

GUARD = 120.0


class Stuck(BaseException):
    """The event loop did not run for too long."""


@contextmanager
def beating() -> Iterator[Callable[[], Awaitable[None]]]:
    """Raise `Stuck` in the main thread if the coroutine of this does not run for long."""
    last = time.monotonic()

    def look(signum: int, frame: FrameType | None) -> None:
        if time.monotonic() - last > BEAT:
            raise Stuck

    async def beat() -> None:
        nonlocal last
        while True:
            last = time.monotonic()
            await asyncio.sleep(0.01)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
    try:
        yield beat
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(play: Callable[[], Awaitable[None]]) -> None:
    """Run a test on an event loop that must not stop."""
    with beating() as beat:

        async def watched() -> None:
            beats = asyncio.ensure_future(beat())
            try:
                await asyncio.wait_for(play(), GUARD)
            finally:
                beats.cancel()

        asyncio.run(watched())
