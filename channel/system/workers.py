"""Share work among processes; all end when the work is done, fails, or is interrupted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Generic, TypeVar

from channelsim import plugins
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.system.interrupt import SIGNALS, held
from channelsim.channel.system.watchdog import watching

T = TypeVar("T")
R = TypeVar("R")

Work = Callable[[T], Iterable[R]]
"""A function of one item, whose results are sent one by one."""

CONTEXT = get_context("spawn")

GONE = "a worker process ended in the middle of its work"


def start_process(
    serve: Callable[..., None], arguments: tuple[object, ...]
) -> tuple[SpawnProcess, Connection]:
    """Start a worker; return its process and our end of the pipe to it.

    It calls `serve` with the arguments and its end of the pipe. It blocks all signals, which the
    parent handles, and is ended by its owner. In the main thread, call this, and store the
    process, inside `held`.
    """
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=serve, args=(*arguments, theirs))
    resource_tracker.ensure_running()  # it unblocks signals, so it has to be there before
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return process, ours


class WorkerPool(Generic[T, R]):
    """Processes that each make their `Work` once and share the items.

    With one job, this process does the work. Leaving the context ends the processes.
    """

    def __init__(self, make: Callable[[], Work[T, R]], jobs: int) -> None:
        self._make, self._jobs = make, jobs
        self._work: Work[T, R] | None = None
        self._processes: list[SpawnProcess] = []
        self._ends: list[Connection] = []

    def __enter__(self) -> WorkerPool[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        with held():
            for process in self._processes:
                process.kill()
            for process in self._processes:
                process.join()

    def run(self, items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the results of all items, each with its item's number, as they arrive."""
        if self._jobs == 1:
            self._work = self._work or self._make()
            for number, item in enumerate(items):
                for result in self._work(item):
                    yield number, result
            return
        while len(self._processes) < min(self._jobs, len(items)):
            with held():
                process, ours = start_process(_serve, (self._make,))
                self._processes.append(process)
                self._ends.append(ours)
        left = enumerate(items)
        busy = [one for one in self._ends if _hand_out(one, left)]
        while busy:
            for ready in wait(busy):
                if not isinstance(ready, Connection):
                    raise InvariantError("a worker's end is no connection")
                try:
                    got = ready.recv()
                except (EOFError, OSError):
                    raise InvariantError(GONE) from None
                if isinstance(got, Exception):
                    raise got
                if got is not None:
                    yield got
                elif not _hand_out(ready, left):
                    busy.remove(ready)


def _hand_out(to: Connection, left: Iterator[tuple[int, T]]) -> bool:
    """Give a worker the next item; False if there is none."""
    for item in left:
        try:
            to.send(item)
        except OSError:
            raise InvariantError(GONE) from None
        return True
    return False


@contextmanager
def bounded() -> Iterator[None]:
    """Bound authors' code in a worker process, and keep what it prints out of our output."""
    with watching(), redirect_stdout(sys.stderr):
        yield


def reported(error: BaseException) -> Exception:
    """What the parent of a worker process raises for an error there."""
    if isinstance(error, UsageError):
        return error
    if isinstance(error, plugins.WrongAnswer):
        return UsageError(str(error))
    if plugins.blamed(error):
        return UsageError(plugins.described(error))
    return InvariantError(f"a worker: {type(error).__name__}: {error}")


def _serve(make: Callable[[], Work[T, R]], parent: Connection) -> None:
    """A worker: sends numbered results, None behind the last one of an item, or what went wrong."""
    try:
        try:
            with bounded():
                work = make()
                while True:
                    number, item = parent.recv()
                    for result in work(item):
                        parent.send((number, result))
                    parent.send(None)
        except (EOFError, ConnectionError):
            raise
        except BaseException as error:  # the parent reports it in one line
            parent.send(reported(error))
    except (EOFError, ConnectionError):
        return  # the parent no longer waits for results
