"""Share work among processes; all end when the work is done, fails, or is interrupted."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from hashlib import sha256
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from channelsim.channel.errors import InvariantError
from channelsim.channel.system.interrupt import held
from channelsim.channel.system.process_executor import ProcessExecutor, WorkerDied, parent

T = TypeVar("T")
R = TypeVar("R")

Work = Callable[[T], Iterable[R]]
"""A function of one item, whose results are sent one by one."""


class WorkerPool(Generic[T, R]):
    """Processes that each make their `Work` once and share the items.

    With one job, this process does the work. Leaving the context ends the processes.
    """

    def __init__(self, make: Callable[[], Work[T, R]], jobs: int) -> None:
        self._make, self._jobs = make, jobs
        self._work: Work[T, R] | None = None
        self._executor: ProcessExecutor | None = None
        self._news: SimpleQueue[tuple[Future[None], tuple[R, ...]]] = SimpleQueue()

    def __enter__(self) -> WorkerPool[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        with held():
            if self._executor is not None:
                self._executor.kill()

    def run(self, items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the results of all items, each with its item's number, as they arrive."""
        if self._jobs == 1:
            self._work = self._work or self._make()
            for number, item in enumerate(items):
                for result in self._work(item):
                    yield number, result
            return
        with held():
            if self._executor is None:
                self._executor = ProcessExecutor(self._jobs, self._hear)
        made = pickle.dumps(self._make)
        digest = sha256(made).digest()
        numbers: dict[Future[None], int] = {}
        for number, item in enumerate(items):
            future = self._executor.submit(_do, digest, made, item)
            numbers[future] = number
            future.add_done_callback(lambda one: self._news.put((one, ())))
        left = len(numbers)
        while left:
            future, results = self._news.get()
            for result in results:
                yield numbers[future], result
            if not results:
                left -= 1
                _raise_error(future)

    def _hear(self, future: Future[Any], message: Any) -> None:
        """A process has sent a result."""
        self._news.put((future, (message,)))


def _raise_error(future: Future[None]) -> None:
    try:
        future.result()
    except WorkerDied as error:
        raise InvariantError(str(error)) from None


_made: dict[bytes, Work[Any, Any]] = {}
"""The work that this process has made, by the digest of its pickled maker."""


def _do(digest: bytes, made: bytes, item: Any) -> None:
    """Do the work of one item in a process."""
    if digest not in _made:
        make: Callable[[], Work[Any, Any]] = pickle.loads(made)
        _made[digest] = make()
    for result in _made[digest](item):
        parent().send(result)
