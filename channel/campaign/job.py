"""The work of a campaign, and how a worker does a shard of it.

A command joins in four steps:

1. Write a frozen dataclass, a `Job`, with what a worker needs (such as a target) as its fields. Its
   `worker` prepares whatever takes long and returns the function of one shard; that function's
   result is JSON, and depends on the job and the shard alone. `decode` reads it back.
2. Cut the work: `Plan(configuration.digest, total, unit)`, in the command's own unit of work.
3. Call `engine.run(job, plan, workers)`, with `workers` from `executors.py`, and the journal of a
   directory (`directory.py`) where the user names one.
4. Fold `in_order(run.results)` into the report. Exit with 1 if `run.lost` is not empty.

In the function of a shard, `parent().send(...)` tells how far it is, and `parent().wants_stop()`
says whether it should return early; both do nothing on a cluster.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from time import thread_time
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.errors import UsageError

R_co = TypeVar("R_co", covariant=True)

ShardWork = Callable[[Shard], bytes]
"""Does a shard; the result is JSON."""

Counts = Mapping[str, int]
"""Figures of a campaign or a shard by name, such as `findings`."""


NO_COUNTS: Counts = {}


class Job(Protocol[R_co]):
    """What is done with each shard. It is pickled, and travels to each worker."""

    @property
    def returns_early(self) -> bool:
        """True if a shard that is asked to stop returns what it has; the others are abandoned."""

    def worker(self) -> ShardWork:
        """Prepare a worker, once; return what it does with each shard."""

    def decode(self, data: bytes) -> R_co:
        """The result in the JSON of a shard. Raises `msgspec.DecodeError` or `ValueError`."""


class ShardProgress(NamedTuple):
    """How far a shard is, as it tells its parent: work done, and counts so far."""

    work: int
    counts: Counts = NO_COUNTS


class ShardResult(msgspec.Struct, frozen=True):
    """What a worker returns: the result as JSON, and the processor seconds that it took."""

    data: bytes
    seconds: float


class JobContent(NamedTuple):
    """A job as it travels. Workers keep the last ones by digest, and prepare each once."""

    digest: str
    data: bytes
    version: str


KEEP = 4
"""The jobs that a worker keeps; a cluster may serve several campaigns in turn."""

_prepared: OrderedDict[str, ShardWork] = OrderedDict()


def content_of(job: Job[object]) -> JobContent:
    """A job, ready to travel."""
    data = pickle.dumps(job)
    return JobContent(sha256(data).hexdigest(), data, __version__)


def run_shard(content: JobContent, shard: Shard) -> ShardResult:
    """Do a shard in a worker. Raises `UsageError` on a worker of another version."""
    start = thread_time()
    data = _work_of(content)(shard)
    return ShardResult(data, thread_time() - start)


def _work_of(content: JobContent) -> ShardWork:
    if content.version != __version__:
        raise UsageError(
            f"a worker has channelsim {__version__}, this command {content.version}:"
            " install the same version on all"
        )
    work = _prepared.get(content.digest)
    if work is None:
        job: Job[object] = pickle.loads(content.data)
        work = _prepared[content.digest] = job.worker()
        while len(_prepared) > KEEP:
            _prepared.popitem(last=False)
    return work
