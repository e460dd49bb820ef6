"""The port of a peer to threads, for calls that take time.

A peer's clock and its pauses are those of the event loop that it runs on. So a simulation replaces
all time by an event loop with a clock of its own, and `Threads` that make each call on that loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from time import monotonic, sleep
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads(Protocol):
    """Where calls are made that take time."""

    def time(self) -> float:
        """The time in seconds, which never goes back; its zero means nothing."""
        ...

    def begin(self, call: Callable[[], T], delay: float = 0.0) -> Future[T]:
        """Make a call after so many seconds; its future has what it returns or raises.

        A future that is cancelled before keeps the call from being made.
        """
        ...

    def make(self, call: Callable[[], T]) -> Future[T]:
        """Begin a call for which its caller waits at once, and does nothing before."""
        ...


class SystemThreads:
    """A thread for each call; none of them holds up the end of the process."""

    def time(self) -> float:
        """The system's monotonic clock."""
        return monotonic()

    def begin(self, call: Callable[[], T], delay: float = 0.0) -> Future[T]:
        """Make a call in a thread of its own."""
        future: Future[T] = Future()

        def run() -> None:
            """Wait, and make the call unless nobody wants it any more."""
            if delay > 0:
                sleep(delay)
            fulfil(future, call)

        Thread(target=run, daemon=True).start()
        return future

    def make(self, call: Callable[[], T]) -> Future[T]:
        """Begin a call for which its caller waits."""
        return self.begin(call)


SYSTEM_THREADS = SystemThreads()


def fulfil(future: Future[T], call: Callable[[], T]) -> None:
    """Make a call and put its result, whatever it raises, in a future that is not cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)


async def in_thread(
    threads: Threads, call: Callable[P, T], *args: P.args, **options: P.kwargs
) -> T:
    """Wait for a call that takes time."""
    future = threads.make(lambda: call(*args, **options))
    return future.result() if future.done() else await result_of(future)


async def result_of(future: Future[T]) -> T:
    """Wait for what a thread computes, and raise whatever it raises.

    A future of asyncio could not raise all of it: some errors would leave it pending for ever.
    """
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()

    def wake(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_wake, woken)

    future.add_done_callback(wake)
    try:
        await woken
    except asyncio.CancelledError:
        future.cancel()
        raise
    return future.result()


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
