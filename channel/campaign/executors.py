"""Where shards run: in this process, in processes of this machine, or on a Dask cluster.

`Workers` is any `concurrent.futures.Executor`, and what the engine has to know about it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol

from channelsim.channel.campaign.job import Job, ShardResult, content_of, run_shard
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.system.process_executor import (
    InlineExecutor,
    OnMessage,
    ProcessExecutor,
    WorkerDied,
)


class Workers(Protocol):
    """Workers for one campaign; `begin` comes first, again with each round, and `close` last."""

    @property
    def size(self) -> int:
        """How many shards are done at once; it may change."""

    @property
    def inline(self) -> bool:
        """True if `submit` does the shard before it returns, in this process."""

    @property
    def exact(self) -> bool:
        """True if only the shard of a worker that died fails, and none beside it."""

    def begin(
        self, job: Job[object], on_message: OnMessage, wants_stop: Callable[[], bool]
    ) -> None:
        """Get ready for a job. An inline one asks `wants_stop` whether to return early."""

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Begin a shard."""

    def died(self, error: BaseException) -> bool:
        """True if the error of a future is the death of a worker, and not one of its shard."""

    def renew(self) -> None:
        """Replace an executor that is broken."""

    def stop(self) -> bool:
        """Ask the shards under way to return early; False if they cannot be asked."""

    def close(self) -> None:
        """End the shards under way, and all workers that this began; also if `begin` raised."""


class ThisProcess:
    """Does each shard at once, in this process and thread."""

    size, inline, exact = 1, True, True

    def begin(
        self, job: Job[object], on_message: OnMessage, wants_stop: Callable[[], bool]
    ) -> None:
        """Prepare a worker for the job on the first shard."""
        self._content = content_of(job)
        self._executor = InlineExecutor(on_message, wants_stop)

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Do a shard."""
        return self._executor.submit(run_shard, self._content, shard)

    def died(self, error: BaseException) -> bool:
        """False: this process would have died itself."""
        return False

    def renew(self) -> None:
        """Do nothing: nothing can break."""

    def stop(self) -> bool:
        """Return True: the shard itself asks whether to stop."""
        return True

    def close(self) -> None:
        """Do nothing: no other process works."""


class Processes:
    """Processes of this machine; a new one takes the place of one that dies."""

    inline, exact = False, True

    def __init__(self, size: int) -> None:
        self.size = size
        self._executor: ProcessExecutor | None = None

    def begin(
        self, job: Job[object], on_message: OnMessage, wants_stop: Callable[[], bool]
    ) -> None:
        """Get ready; the processes start with their first shards, and stay for another job."""
        self._content = content_of(job)
        if self._executor is None:
            self._executor = ProcessExecutor(self.size)
        self._executor.on_message = on_message

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Begin a shard."""
        assert self._executor is not None, "it has begun"
        return self._executor.submit(run_shard, self._content, shard)

    def died(self, error: BaseException) -> bool:
        """True if its process ended."""
        return isinstance(error, WorkerDied)

    def renew(self) -> None:
        """Do nothing: dead processes are replaced one by one."""

    def stop(self) -> bool:
        """Ask the shards under way."""
        if self._executor is not None:
            self._executor.stop()
        return True

    def close(self) -> None:
        """End all processes."""
        if self._executor is not None:
            self._executor.kill()
            self._executor = None


def processes(size: int, *, inline: bool = False) -> Workers:
    """Workers of this machine; `inline`: a single one needs no process of its own."""
    return ThisProcess() if inline and size == 1 else Processes(size)
