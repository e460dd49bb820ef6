"""Workers of a Dask cluster; needs `pip install channelsim[cluster]`.

The job travels once to each worker that needs it, under the digest of its content, and stays
there while the campaign runs. The scheduler tries a shard again whose worker died, and gives it up
after a few workers (its setting `allowed-failures`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from time import monotonic
from typing import Any

from channelsim.channel.campaign.job import Job, JobContent, ShardResult, content_of, run_shard
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.system.process_executor import OnMessage, reported

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
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported here
        self._address, self._killed = address, KilledWorker
        self._threads, self._counted = 1, -RECOUNT
        connect: Any = Client
        try:
            # Here, as a client with a bad address fails only when it is closed.
            get_address_host_port(address)
            self._client: Any = connect(address, timeout=CONNECTING, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UsageError(
                f"--cluster {address}: no scheduler answers ({reason[:200]})"
            ) from None

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
        self._content: Any = self._client.submit(_keep, content, key=f"job-{content.digest}")

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Begin a shard."""
        return self._executor.submit(_run_shard, self._content, shard)

    def died(self, error: BaseException) -> bool:
        """True if the scheduler gave the shard up, after several workers ended with it.

        Raises `UsageError` if the scheduler itself is gone.
        """
        if self._client.status != "running":
            raise UsageError(
                f"--cluster {self._address}: the scheduler is gone; with --out, go on by --resume"
            ) from None
        return isinstance(error, (self._killed, BrokenExecutor, CancelledError))

    def renew(self) -> None:
        """The cluster replaces its workers by itself."""

    def stop(self) -> bool:
        """Shards on a cluster do not hear it."""
        return False

    def close(self) -> None:
        """Cancel the shards under way, and leave the cluster as it was."""
        self._executor.shutdown(wait=False)
        self._client.close()


def _keep(content: JobContent) -> JobContent:
    """Keep a job on the worker that runs this; others fetch it from there."""
    return content


def _run_shard(content: JobContent, shard: Shard) -> ShardResult:
    """Do a shard on the cluster; errors travel as ours, which need nothing of the worker's."""
    try:
        return run_shard(content, shard)
    except (UsageError, InvariantError):
        raise
    except BaseException as error:
        raise reported(error) from None
