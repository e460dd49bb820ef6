"""An event loop whose time is virtual, and threads on it."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError
from functools import partial

import pytest

from channelsim.channel.attack.virtual_time import (
    Stalled,
    VirtualThreads,
    drawn_delays,
    run_virtually,
)
from channelsim.channel.session.threads import in_thread
from channelsim.games.chance import Chance


def test_a_day_passes_at_once_and_everything_happens_in_the_order_of_its_time() -> None:
    happened: list[tuple[float, str]] = []

    async def at(hour: int) -> None:
        await asyncio.sleep(3600 * hour)
        happened.append((asyncio.get_running_loop().time(), f"hour {hour}"))

    async def day() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600 * 12.5):
                await asyncio.gather(*map(at, (24, 7, 12, 1)))

    begun = time.process_time()
    run_virtually(day)
    assert [name for _, name in happened] == ["hour 1", "hour 7", "hour 12"]
    assert [round(now) for now, _ in happened] == [3600, 25200, 43200]
    assert time.process_time() - begun < 1


def test_calls_of_one_time_are_made_in_the_order_in_which_they_were_asked_for() -> None:
    made: list[int] = []

    async def play() -> None:
        loop = asyncio.get_running_loop()
        calls = [loop.call_at(5.0, made.append, number) for number in range(40)]
        for call in calls[::3]:
            call.cancel()
        loop.call_later(4.0, loop.call_soon, made.append, -1)
        soon = loop.call_soon(made.append, -2)
        soon.cancel()
        await asyncio.sleep(6)

    run_virtually(play)
    assert made == [-1, *(number for number in range(40) if number % 3)]


def test_an_error_in_a_call_ends_nothing_else_and_is_reported() -> None:
    reports: list[object] = []

    async def play() -> float:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reports.append(context["exception"]))
        error = ValueError("planted")
        loop.call_later(1, partial(_raise, error))
        await asyncio.sleep(2)
        assert reports == [error]
        return loop.time()

    assert run_virtually(play) == 2


def _raise(error: Exception) -> None:
    raise error


def test_a_loop_on_which_nothing_is_due_says_so() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stalled):
        run_virtually(wait)


def test_a_task_that_never_pauses_is_noticed() -> None:
    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Stalled, match="busy"):
        run_virtually(spin)


def test_a_call_in_a_virtual_thread_takes_time_and_sees_the_world_in_between() -> None:
    now = 0

    async def play() -> tuple[int, float]:
        threads = VirtualThreads(lambda: 5.0, lambda: 2.0)

        async def count() -> None:
            nonlocal now
            while True:
                await asyncio.sleep(1)
                now += 1

        counting = asyncio.ensure_future(count())
        seen = await in_thread(threads, lambda: now)
        counting.cancel()
        return seen, threads.time()

    seen, end = run_virtually(play)
    assert (seen, round(end)) == (4, 12)


@pytest.mark.parametrize("others", [(), (1.0,), (4.0,), (6.0,)])
def test_a_call_is_made_at_once_only_where_nothing_else_happens_meanwhile(
    others: tuple[float, ...],
) -> None:
    events: list[tuple[str, float]] = []

    async def play() -> list[tuple[str, float]]:
        loop = asyncio.get_running_loop()
        threads = VirtualThreads(lambda: 2.0, lambda: 1.0)

        def note(what: str) -> None:
            events.append((what, loop.time()))

        for seconds in others:
            loop.call_later(seconds, note, "other")
        loop.call_later(9.0, note, "last")
        await in_thread(threads, note, "call")
        note("answered")
        await asyncio.sleep(10)
        return events

    run_virtually(play)
    expected = [("call", 2.0), ("answered", 5.0), ("last", 9.0)]
    expected += [("other", seconds) for seconds in others]
    assert events == sorted(expected, key=lambda event: event[1])


def test_a_virtual_thread_raises_what_its_call_raises_and_a_cancelled_one_makes_no_call() -> None:
    calls: list[str] = []

    def fails() -> None:
        calls.append("failed")
        raise ValueError("planted")

    async def play() -> None:
        threads = VirtualThreads(drawn_delays(Chance(b""), 1.0, 2.0))
        with pytest.raises(ValueError, match="planted"):
            await in_thread(threads, fails)
        told: list[bool] = []
        given_up = threads.begin(fails, 10.0)
        given_up.add_done_callback(lambda future: told.append(future.cancelled()))
        assert given_up.cancel()
        begun = threads.begin(lambda: 7)
        with pytest.raises(TimeoutError):
            begun.result(0)
        await asyncio.sleep(60)
        assert told == [True]
        assert (begun.result(), begun.cancel(), begun.cancelled()) == (7, False, False)
        with pytest.raises(CancelledError):
            given_up.result()

    run_virtually(play)
    assert calls == ["failed"]
