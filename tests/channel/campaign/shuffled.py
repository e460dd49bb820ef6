"""An executor that completes its calls in another order than it got them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from channelsim.games.chance import Chance


class Shuffled(Executor):
    """Does one call at a time, by chance one of those that wait."""

    def __init__(self, seed: bytes) -> None:
        self._pool, self._chance = ThreadPoolExecutor(1), Chance(seed)
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: fn(*args, **kwargs)))
        self._pool.submit(self._do_one)
        return future

    def _do_one(self) -> None:
        future, call = self._waiting.pop(self._chance.below(len(self._waiting)))
        future.set_result(call())
