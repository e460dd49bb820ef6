"""An event loop whose time is virtual, and threads on it: nothing waits, and nothing is random.

The loop goes on to the next moment at which something is due. The calls of a peer's threads are
made on the loop, one after the other, so that the same seed gives the same order of events.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from channelsim.channel.session.threads import fulfil
from channelsim.games.chance import Chance

T = TypeVar("T")

RESOLUTION = 1e-6
"""Seconds within which two times are the same."""


MOST_ROUNDS = 20_000
"""Rounds of the loop in which no time passes: with more, it is busy for ever."""


class Stalled(Exception):
    """Time does not go on: everybody waits and nothing is due, or somebody is busy for ever."""


class _Jumping(selectors.SelectSelector):
    """A selector that does not wait: it moves the time of its loop on instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._rounds = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        """Let so many seconds pass. Raises `Stalled` if time cannot go on."""
        if timeout is None:
            raise Stalled("everybody waits, and nothing is due")
        self._rounds = 0 if timeout > RESOLUTION else self._rounds + 1
        if self._rounds > MOST_ROUNDS:
            self._rounds = 0
            raise Stalled("somebody is busy for ever, without any pause")
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with virtual time, which begins at 0 seconds; it reads no files and sockets.

    >>> loop = VirtualLoop()
    >>> loop.run_until_complete(asyncio.sleep(3600))
    >>> round(loop.time())
    3600
    >>> loop.close()
    """

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)
        self._clock_resolution = RESOLUTION

    def time(self) -> float:
        """The virtual time in seconds."""
        return self._jumping.now


def run_virtually(main: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run a coroutine on a loop with virtual time. Raises `Stalled` if time stops before."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main())
    finally:
        _cancel_rest(loop)
        loop.close()


def _cancel_rest(loop: VirtualLoop) -> None:
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    if rest:
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))


class VirtualThreads:
    """Makes each call on the event loop, after a drawn time; what it returns takes one too.

    `delay` draws either, in seconds, and `slowness` is added after a call. So a call sees the world
    as it is at one moment between, and its result is old news when it arrives.
    """

    def __init__(
        self, delay: Callable[[], float], slowness: Callable[[], float] = lambda: 0.0
    ) -> None:
        self._delay = delay
        self._slowness = slowness

    def time(self) -> float:
        """The virtual time."""
        return asyncio.get_running_loop().time()

    def begin(self, call: Callable[[], T], delay: float = 0.0) -> Future[T]:
        """Make a call later."""
        loop = asyncio.get_running_loop()
        future: Future[T] = Future()
        made: Future[T] = Future()

        def work() -> None:
            """Make the call, and hand its result on after a while."""
            if not future.cancelled():
                fulfil(made, call)
                loop.call_later(self._delay() + self._slowness(), fulfil, future, made.result)

        loop.call_later(delay + self._delay(), work)
        return future


def drawn_delays(chance: Chance, least: float, most: float) -> Callable[[], float]:
    """Times between two bounds, in seconds, to the microsecond.

    >>> delay = drawn_delays(Chance(b"seed"), 0.5, 1.0)
    >>> all(0.5 <= delay() <= 1.0 for _ in range(10))
    True
    """
    span = round((most - least) / RESOLUTION)
    return lambda: least + chance.below(span + 1) * RESOLUTION
