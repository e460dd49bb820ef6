"""Workers of a campaign that are an executor of any kind."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future

from channelsim.channel.campaign.job import Job, ShardResult, content_of, run_shard
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.system.process_executor import OnMessage


class AnyExecutor:
    """An executor of any kind; `make` makes one, and another one when that is broken."""

    inline, exact = False, False

    def __init__(self, make: Callable[[], Executor], size: int) -> None:
        self._make, self.size = make, size

    def begin(
        self, job: Job[object], on_message: OnMessage, wants_stop: Callable[[], bool]
    ) -> None:
        """Make the first executor."""
        self._executor = self._make()
        self._content = content_of(job)

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Begin a shard."""
        return self._executor.submit(run_shard, self._content, shard)

    def died(self, error: BaseException) -> bool:
        """True if the executor is broken: all its futures have this error then."""
        return isinstance(error, BrokenExecutor)

    def renew(self) -> None:
        """Make another executor."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._make()

    def stop(self) -> bool:
        """Return False: an executor of any kind cannot be asked."""
        return False

    def close(self) -> None:
        """Leave the executor without waiting for shards under way."""
        self._executor.shutdown(wait=False, cancel_futures=True)
