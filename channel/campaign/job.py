"""The job of a campaign, how a worker does a shard of it, and the plug-ins that this needs."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic, thread_time
from typing import Any, NamedTuple, Protocol, TypeVar, get_origin

import msgspec

from channelsim import plugins
from channelsim.channel import __version__
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.system.process_executor import parent

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")

OFTEN = 0.1
"""The seconds between two messages of a shard on its progress, at least."""

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


@dataclass(slots=True)
class Reporter:
    """Tells the parent of a shard how far it is, `last` at this time. Does nothing on a cluster."""

    last: float = field(default_factory=monotonic)

    def __call__(self, work: int, counts: Callable[[], Counts] = dict) -> bool:
        """Tell the work done and the counts, now and then; true if the shard should return early
        with what it has."""
        if monotonic() - self.last > OFTEN:
            self.last = monotonic()
            parent().send(ShardProgress(work, counts()))
        return parent().wants_stop()


def decoded(data: bytes, kind: type[T]) -> T:
    """A result in the JSON of a shard. Raises `msgspec.DecodeError`."""
    return msgspec.json.decode(data, type=kind, dec_hook=read_counter)


def read_counter(kind: type, value: Any) -> Counter[str]:
    """Read a `Counter`, which the library leaves to us."""
    if get_origin(kind) is not Counter:
        raise NotImplementedError(kind)
    return Counter(msgspec.convert(value, dict[str, int]))


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


_PREFIX = "plug-in "


def plugin_inputs(counts: Callable[[str, str], bool]) -> dict[str, str]:
    """Version and SHA-256 of the packages with plug-ins that count, for `Configuration.inputs`.

    `counts` gets the group (`games`) and the name of each plug-in. Loads none of them.
    """
    return {f"{_PREFIX}{package}": version for package, version in plugins.versions(counts).items()}


def check_plugins(inputs: Mapping[str, str]) -> None:
    """Check that a worker has the plug-ins of a campaign with these inputs. Raises `UsageError`."""
    here = plugin_inputs(lambda group, name: True)
    for name, version in inputs.items():
        if name.startswith(_PREFIX) and here.get(name) != version:
            what = f"has another {name} than" if name in here else f"lacks the {name} with which"
            raise UsageError(
                f"a worker {what} the campaign began; install the same one everywhere, and"
                " start again if it was changed"
            )
