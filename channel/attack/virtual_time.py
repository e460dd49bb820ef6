"""An event loop whose time is virtual, and threads on it: nothing waits, and nothing is random.

The loop goes on to the next moment at which something is due. The calls of a peer's threads are
made on the loop, one after the other, so that the same seed gives the same order of events.
"""

from __future__ import annotations

import asyncio
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextvars import Context, copy_context
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar, TypeVarTuple, cast

from channelsim.games.chance import Chance

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

RESOLUTION = 1e-6
"""Seconds within which two times are the same."""


MOST_ROUNDS = 20_000
"""Rounds of the loop in which no time passes: with more, it is busy for ever."""


class Stalled(Exception):
    """Time does not go on: everybody waits and nothing is due, or somebody is busy for ever."""


class _Call(asyncio.TimerHandle):
    """A call that is due at a time, with the little that this loop needs."""

    __slots__ = ("arguments", "callback", "context", "due_at", "is_cancelled")

    def __init__(
        self, due_at: float, callback: Callable[..., object], arguments: Any, context: Context
    ) -> None:
        self.due_at = due_at
        self.callback = callback
        self.arguments = arguments
        self.context = context
        self.is_cancelled = False

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def cancel(self) -> None:
        """Do not make the call."""
        self.is_cancelled = True
        self.callback, self.arguments = _nothing, ()

    def cancelled(self) -> bool:
        """True if the call is not made."""
        return self.is_cancelled

    def when(self) -> float:
        """The time at which it is due."""
        return self.due_at


def _nothing() -> None:
    """Stand for the call that was cancelled, which keeps nothing alive."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with virtual time, which begins at 0 seconds; it reads no files and sockets.

    Calls that are due at the same time are made in the order in which they were asked for.

    >>> loop = VirtualLoop()
    >>> loop.run_until_complete(asyncio.sleep(3600))
    >>> round(loop.time())
    3600
    >>> loop.close()
    """

    _stopping: bool  # set by `stop`

    def __init__(self) -> None:
        super().__init__(selectors.SelectSelector())
        self._now = 0.0
        self._rounds = 0
        self._calls: deque[_Call] = deque()
        self._due: list[tuple[float, int, _Call]] = []
        self._numbers = count()

    def time(self) -> float:
        """The virtual time in seconds."""
        return self._now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Make a call in the next round."""
        call = _Call(self._now, callback, args, context or copy_context())
        self._calls.append(call)
        return call

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Make a call in the next round: no other thread knows this loop."""
        return self.call_soon(callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Make a call at this time."""
        call = _Call(when, callback, args, context or copy_context())
        heappush(self._due, (when, next(self._numbers), call))
        return call

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Make a call after so many seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _run_once(self) -> None:
        """Make all calls until the loop is stopped: the base class asks for one round at a time.

        Raises `Stalled` if time cannot go on.
        """
        calls, due = self._calls, self._due
        while True:
            self._go_on()
            now = self._now + RESOLUTION
            while due and due[0][0] < now:
                calls.append(heappop(due)[2])
            # Those that are added meanwhile are made in the next round.
            for _ in range(len(calls)):
                call = calls.popleft()
                if call.is_cancelled:
                    continue
                try:
                    call.context.run(call.callback, *call.arguments)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    message = f"an error in {call.callback}"
                    self.call_exception_handler({"message": message, "exception": error})
            if self._stopping:
                return

    def _go_on(self) -> None:
        """Go on to the time at which the next call is due. Raises `Stalled`."""
        due = self._due
        while due and due[0][2].is_cancelled:
            heappop(due)
        passes = 0.0
        if not self._calls and not self._stopping:
            if not due:
                raise Stalled("everybody waits, and nothing is due")
            passes = max(due[0][0] - self._now, 0.0)
        self._rounds = 0 if passes > RESOLUTION else self._rounds + 1
        if self._rounds > MOST_ROUNDS:
            self._rounds = 0
            raise Stalled("somebody is busy for ever, without any pause")
        self._now += passes

    def pass_alone(self, seconds: float) -> bool:
        """Let time pass within a call, if nothing else is due until then; true if it has passed."""
        due, when = self._due, self._now + seconds
        while due and due[0][2].is_cancelled:
            heappop(due)
        if self._calls or self._stopping or not due or due[0][0] <= when + RESOLUTION:
            return False
        # The sum is the one of a call that is due then.
        self._now += max(when - self._now, 0.0)
        self._rounds = 0
        return True


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


class _Promise(Future[T]):
    """The result of a call that is made on the loop: without the locks between threads."""

    def __init__(self) -> None:
        self._answer: T | None = None
        self._error: BaseException | None = None
        self._is_done = self._is_cancelled = False
        self._callbacks: list[Callable[[Future[T]], object]] = []

    def cancel(self) -> bool:
        """Give it up, unless it is there."""
        if not self._is_done:
            self._is_cancelled = True
            self._finish()
        return self._is_cancelled

    def cancelled(self) -> bool:
        """True if it was given up."""
        return self._is_cancelled

    def running(self) -> bool:
        """Return false: a call takes no time."""
        return False

    def done(self) -> bool:
        """True if it is there, or was given up."""
        return self._is_done

    def add_done_callback(self, fn: Callable[[Future[T]], object]) -> None:
        """Call a function once it is there."""
        if self._is_done:
            fn(self)
        else:
            self._callbacks.append(fn)

    def result(self, timeout: float | None = None) -> T:
        """Return what the call returned. Raises what it raised."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        return cast(T, self._answer)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return what the call raised."""
        if self._is_cancelled:
            raise CancelledError
        if not self._is_done:
            raise TimeoutError
        return self._error

    def fulfil(self, answer: T | None, error: BaseException | None) -> None:
        """Take the result, unless it was given up."""
        if not self._is_done:
            self._answer, self._error = answer, error
            self._finish()

    def _finish(self) -> None:
        self._is_done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


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
        promise: _Promise[T] = _Promise()
        asyncio.get_running_loop().call_later(delay + self._delay(), self._work, promise, call)
        return promise

    def make(self, call: Callable[[], T]) -> Future[T]:
        """Make a call for which its caller waits: at once, if nothing else happens meanwhile."""
        loop = asyncio.get_running_loop()
        promise: _Promise[T] = _Promise()
        seconds = self._delay()
        if isinstance(loop, VirtualLoop) and loop.pass_alone(seconds):
            self._work(promise, call)
        else:
            loop.call_later(seconds, self._work, promise, call)
        return promise

    def _work(self, promise: _Promise[T], call: Callable[[], T]) -> None:
        """Make a call, unless it was given up, and hand its result on after a while."""
        if promise.cancelled():
            return
        answer, failure = None, None
        try:
            answer = call()
        except BaseException as error:
            failure = error
        loop, seconds = asyncio.get_running_loop(), self._delay() + self._slowness()
        if isinstance(loop, VirtualLoop) and loop.pass_alone(seconds):
            promise.fulfil(answer, failure)
        else:
            loop.call_later(seconds, promise.fulfil, answer, failure)


def drawn_delays(chance: Chance, least: float, most: float) -> Callable[[], float]:
    """Times between two bounds, in seconds, to the microsecond.

    >>> delay = drawn_delays(Chance(b"seed"), 0.5, 1.0)
    >>> all(0.5 <= delay() <= 1.0 for _ in range(10))
    True
    """
    span = round((most - least) / RESOLUTION)
    return lambda: least + chance.below(span + 1) * RESOLUTION
