"""Workers of a Dask cluster; needs `pip install channelsim[cluster]`.

The job travels once to each worker that needs it, under the digest of its content, and stays
there while the campaign runs. Each thread of a worker does its shards in a process of its own, as
`Processes` does: in its main thread, where authors' code is bounded, and where no other thread
collects garbage or looks into frames (objects of the CLVM interpreter belong to one thread). The
scheduler tries a shard again whose worker died, and gives it up after a few workers (its setting
`allowed-failures`).
"""

from __future__ import annotations

import logging
import socket
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from time import monotonic
from typing import Any

from channelsim.channel import __version__
from channelsim.channel.campaign.job import Job, JobContent, ShardResult, content_of, run_shard
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.system.process_executor import OnMessage, ProcessExecutor

CONNECTING = 20
"""Seconds to wait for the scheduler."""

RECOUNT = 2.0
"""Seconds after which the workers are counted again."""


class DaskCluster:
    """All workers of the cluster whose scheduler is at this address."""

    inline, exact = False, True

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise UsageError(
                "--cluster: Dask is not installed; install channelsim[cluster]"
            ) from None
        _silence()
        self._address, self._killed = address, KilledWorker
        self._threads, self._counted = 1, -RECOUNT
        connect: Any = Client
        try:
            # Here, as a client with a bad address fails only when it is closed, and one with a port
            # that does not exist waits for it.
            host, port = get_address_host_port(address)
            if not 0 < port < 1 << 16:
                raise ValueError(f"{port} is not a port")
            # A client tries again for a long time where nobody listens.
            socket.create_connection((host, port), CONNECTING).close()
            self._client: Any = connect(address, timeout=CONNECTING, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UsageError(
                f"--cluster {address}: no scheduler answers ({reason[:200]})"
            ) from None

    @property
    def is_empty(self) -> bool:
        """True if the scheduler has no workers now."""
        return not self._client.nthreads()

    @property
    def size(self) -> int:
        """The threads of all workers that are there now."""
        if monotonic() - self._counted > RECOUNT:
            threads: dict[str, int] = self._client.nthreads()
            self._threads, self._counted = max(1, sum(threads.values())), monotonic()
        return self._threads

    def begin(
        self, job: Job[object], on_message: OnMessage, wants_stop: Callable[[], bool]
    ) -> None:
        """Give the job to the cluster."""
        self._executor: Executor = self._client.get_executor(pure=False)
        content = content_of(job)
        # A task, and no scattered data: the scheduler makes it again if its worker dies.
        self._content: Any = self._client.submit(_WorkerJob, content, key=f"job-{content.digest}")

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Begin a shard."""
        return self._executor.submit(_run_shard, self._content, shard)

    def died(self, error: BaseException) -> bool:
        """True if the shard's process ended, or several workers did.

        Raises `UsageError` if the scheduler itself is gone, or if workers cannot do shards at all.
        """
        if self._client.status != "running":
            raise UsageError(
                f"--cluster {self._address}: the scheduler is gone; with --out, --resume"
                " continues the campaign"
            ) from None
        if isinstance(error, (self._killed, BrokenExecutor, CancelledError)):
            return True
        if isinstance(error, (UsageError, InvariantError)):
            return False
        # Raised by Dask, and not by a shard: often a function that another version has not.
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise UsageError(
            f"--cluster {self._address}: a worker cannot do a shard ({reason}); install"
            f" channelsim {__version__} on all"
        ) from None

    def renew(self) -> None:
        """The cluster replaces its workers by itself."""

    def stop(self) -> bool:
        """Return False: shards on a cluster cannot be asked."""
        return False

    def close(self) -> None:
        """Cancel the shards under way, and leave the cluster as it was."""
        self._executor.shutdown(wait=False)
        self._client.close()


def _silence() -> None:
    """Let Dask log no errors: the command reports them. Some of its loggers have a level set."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


class _WorkerJob:
    """A job on a worker, with the processes that do its shards.

    Dask drops it once the command has ended, also by SIGKILL; then its processes end, at the latest
    when they have been idle for a while.
    """

    def __init__(self, content: JobContent) -> None:
        self._content = content
        self._lock = threading.Lock()
        self._executor: ProcessExecutor | None = None

    def __reduce__(self) -> tuple[type[_WorkerJob], tuple[JobContent]]:
        """Pickle the job without its processes."""
        return _WorkerJob, (self._content,)

    def do(self, shard: Shard, threads: int) -> ShardResult:
        """Do a shard in one of this many processes."""
        with self._lock:
            if self._executor is None:
                self._executor = ProcessExecutor(threads)
                weakref.finalize(self, self._executor.kill)
        return self._executor.submit(run_shard, self._content, shard).result()


def _run_shard(job: _WorkerJob, shard: Shard) -> ShardResult:
    """Do a shard on a worker, in a process for each of its threads."""
    from distributed import get_worker

    worker: Any = get_worker()
    return job.do(shard, worker.state.nthreads)
