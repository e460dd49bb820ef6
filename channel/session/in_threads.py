"""Waiting on an event loop for what threads compute, whatever they raise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Wait for a call in a thread of its own, which does not hold up the end of the process."""
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(call(*args, **options))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return await result_of(future)


async def result_of(future: Future[T]) -> T:
    """Wait for what a thread computes, and raise whatever it raises.

    A future of asyncio could not raise all of it: some errors would leave it pending for ever.
    """
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def wake(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(wake)
    try:
        await done.wait()
    except asyncio.CancelledError:
        future.cancel()
        raise
    return future.result()
