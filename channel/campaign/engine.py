"""Run a campaign: hand out shards, collect results, and isolate shards that crash their workers.

A shard whose worker dies is tried again, alone if others may be to blame. If it dies again it is
halved, down to one seed, and then that seed's work is halved. So the campaign goes on, and reports
the seeds that cannot be done (`CampaignRun.lost`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import Annotated, Any, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from channelsim.channel.campaign.executors import Workers
from channelsim.channel.campaign.job import Counts, Job, ShardProgress, ShardResult
from channelsim.channel.campaign.shards import Plan, Shard, merged
from channelsim.channel.errors import InvariantError
from channelsim.channel.system.interrupt import held, polled

R = TypeVar("R")

AHEAD = 2
"""Shards that are handed out for each worker: one is done while the next one waits."""

PERIOD = 0.2
"""Seconds between two looks at signals and at the progress of shards, at most."""

TRIES = 2
"""Tries of a seed that crashes its worker, before its work is cut: another cause is possible."""


Figure: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]


class ProgressLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Progress of a campaign, as its directory has it.

    `shards` of `planned` are done, and `work` of `total`. `begun` of the work was done by an
    earlier run. `counts` are those of the shards that are done, such as `findings`. `seconds` are
    those of this run.
    """

    shards: Figure
    planned: Figure
    work: Figure
    total: Figure
    begun: Figure
    seconds: Seconds
    counts: dict[str, Figure]


class CampaignStatus(ProgressLine, frozen=True):
    """Progress of a campaign that runs; `live` are the counts of each shard that is under way."""

    live: tuple[Counts, ...] = ()

    @property
    def rate(self) -> float:
        """Work a second, in this run."""
        return (self.work - self.begun) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes at this rate; None if there is no rate yet."""
        return (self.total - self.work) / self.rate if self.rate > 0 else None


class Journal(Protocol[R]):
    """Where the results of shards are stored as they come, and read when a campaign goes on."""

    def stored(self, job: Job[R]) -> dict[Shard, R]:
        """The results of earlier runs."""

    def record(self, shard: Shard, result: ShardResult) -> None:
        """Store a result; it is durable when this returns."""

    def note(self, status: CampaignStatus) -> None:
        """Store how far the campaign is."""


@dataclass
class CampaignRun(Generic[R]):
    """The results of all shards, also those of earlier runs.

    `earlier` are the shards of earlier runs. `partial` are the results of those that an interrupt
    ended early. `lost` are the seeds that crashed their workers, with the work that is missing.
    `seconds` are those of this run, and `busy_seconds` the processor seconds that its shards took.
    """

    results: dict[Shard, R] = field(default_factory=dict)
    earlier: frozenset[Shard] = frozenset()
    partial: dict[Shard, R] = field(default_factory=dict)
    lost: list[Shard] = field(default_factory=list)
    seconds: float = 0.0
    busy_seconds: float = 0.0
    interrupted: bool = False


def run(
    job: Job[R],
    plan: Plan,
    workers: Workers,
    journal: Journal[R] | None = None,
    on_result: Callable[[Shard, R], Counts] = lambda shard, result: {},
    on_status: Callable[[CampaignStatus], None] = lambda status: None,
    known: Mapping[Shard, R] = MappingProxyType({}),
    seeds: range | None = None,
    lasting: bool = False,
) -> CampaignRun[R]:
    """Do all shards of a plan of which there are no results yet.

    A campaign whose later shards depend on the results of earlier ones is run in rounds: each does
    the shards that begin in `seeds` only, and gets the results of the round before (`known`), with
    which the journal is not read again. `lasting` workers are closed by the caller, who may give
    them to the next round.

    `on_result` gets each result, also stored ones, as they come, and returns the counts so far.
    `on_status` is called several times a second; an error that either raises ends the campaign.
    The first signal ends it early. Raises what a shard raises.
    """
    due = range(plan.seeds) if seeds is None else seeds
    closing = nullcontext() if lasting else closing_at_end(workers)
    return _Engine(job, plan, workers, journal, on_result, on_status, due).run(known, closing)


@contextmanager
def closing_at_end(workers: Workers) -> Iterator[None]:
    """Close workers after this block; a signal waits for it."""
    try:
        yield
    finally:
        with held():
            workers.close()


class _Engine(Generic[R]):
    def __init__(
        self,
        job: Job[R],
        plan: Plan,
        workers: Workers,
        journal: Journal[R] | None,
        on_result: Callable[[Shard, R], Counts],
        on_status: Callable[[CampaignStatus], None],
        seeds: range,
    ) -> None:
        self._seeds = seeds
        self._job, self._plan, self._workers, self._journal = job, plan, workers, journal
        self._on_result, self._on_status = on_result, on_status
        self._run: CampaignRun[R] = CampaignRun()
        self._counts: Counts = {}
        self._work = self._begun = 0
        self._waiting: deque[Shard] = deque()
        self._suspects: deque[Shard] = deque()
        self._under_way: dict[Future[ShardResult], Shard] = {}
        self._live: dict[Future[Any], ShardProgress] = {}
        self._deaths: Counter[Shard] = Counter()
        self._stopping = False
        self._start = monotonic()

    def run(
        self, known: Mapping[Shard, R], closing: AbstractContextManager[None]
    ) -> CampaignRun[R]:
        run = self._run
        stored = {} if self._journal is None or known else self._journal.stored(self._job)
        for shard, result in merged(stored, known).items():
            self._count(shard, result)
        self._begun, run.earlier = self._work, frozenset(run.results)
        self._waiting.extend(self._in_turn(self._plan.shards(run.results)))
        # What runs in this process and returns nothing early has to be interrupted by a signal.
        raised = self._workers.inline and not self._job.returns_early
        signals: AbstractContextManager[Callable[[], bool]] = (
            nullcontext(lambda: False) if raised else polled()
        )
        try:
            with signals as interrupted, closing:
                self._workers.begin(self._job, self._on_message, interrupted)
                self._loop(interrupted)
        except KeyboardInterrupt:
            run.interrupted = True
        run.seconds = monotonic() - self._start
        if not run.interrupted:
            run.lost = self._in_turn(self._plan.lost(run.results))
        return run

    def _in_turn(self, shards: Iterable[Shard]) -> list[Shard]:
        """The shards among these that are due now."""
        return [shard for shard in shards if shard.first in self._seeds]

    def _loop(self, interrupted: Callable[[], bool]) -> None:
        while self._waiting or self._suspects or self._under_way:
            if interrupted():
                self._run.interrupted = True
                if not (self._job.returns_early and self._stop()):
                    return
            self._hand_out()
            if not self._under_way:
                return
            done, _ = wait(self._under_way, timeout=PERIOD, return_when=FIRST_COMPLETED)
            self._run.interrupted = self._run.interrupted or interrupted()
            # Results first: the death of a worker may fail all that is under way.
            for future in sorted(done, key=lambda ended: _error(ended) is not None):
                if future in self._under_way:
                    self._collect(future)
            self._report()

    def _stop(self) -> bool:
        """Ask the shards under way to return, once; hand out no more."""
        self._waiting.clear()
        self._suspects.clear()
        for future in list(self._under_way):
            if future.cancel():
                del self._under_way[future]
        if not self._stopping:
            self._stopping = True
            return self._workers.stop()
        return True

    # --- handing out ---

    def _hand_out(self) -> None:
        """Keep the workers busy; a suspect has them for itself."""
        if self._suspects:
            if not self._under_way:
                self._submit(self._suspects.popleft())
            return
        most = 1 if self._workers.inline else AHEAD * self._workers.size
        while self._waiting and len(self._under_way) < most:
            self._submit(self._waiting[0])  # which does it at once, if inline
            self._waiting.popleft()

    def _submit(self, shard: Shard) -> None:
        self._under_way[self._workers.submit(shard)] = shard

    # --- collecting ---

    def _collect(self, future: Future[ShardResult]) -> None:
        shard = self._under_way.pop(future)
        self._live.pop(future, None)
        error = _error(future)
        if error is None:
            self._keep(shard, future.result())
        elif self._workers.died(error):
            self._worker_died(shard)
        else:
            raise error

    def _keep(self, shard: Shard, got: ShardResult) -> None:
        try:
            result = self._job.decode(got.data)
        except (msgspec.DecodeError, ValueError) as error:
            raise InvariantError(f"shard {shard.number}: a bad result: {error}") from None
        with held():
            self._run.busy_seconds += got.seconds
            if self._run.interrupted:
                # It may have ended early, so the next run does it again.
                self._run.partial[shard] = result
                self._on_result(shard, result)
                return
            if self._journal is not None:
                self._journal.record(shard, got)
            self._count(shard, result)
            if self._journal is not None:
                # Work under way is lost in an interrupt, and its counts are not known yet.
                self._journal.note(msgspec.structs.replace(self._status(), work=self._work))

    def _count(self, shard: Shard, result: R) -> None:
        self._run.results[shard] = result
        self._work += shard.budget
        self._counts = self._on_result(shard, result)

    def _worker_died(self, shard: Shard) -> None:
        if not self._workers.exact:
            self._workers.renew()
            if self._under_way:
                # All of them failed with it, and any of them may have done it.
                self._suspects.extend((shard, *self._under_way.values()))
                self._under_way.clear()
                self._live.clear()
                return
        self._deaths[shard] += 1
        whole = shard.count == 1 and shard.budget == self._plan.budget(shard.first, 1)
        if whole and self._deaths[shard] < TRIES:
            self._again((shard,))
        else:
            self._again(self._plan.halves(shard))

    def _again(self, shards: tuple[Shard, ...]) -> None:
        (self._waiting if self._workers.exact else self._suspects).extendleft(reversed(shards))

    # --- progress ---

    def _on_message(self, future: Future[Any], message: Any) -> None:
        """Take a progress report of a shard; on another thread, except for an inline one."""
        if isinstance(message, ShardProgress):
            self._live[future] = message
            if self._workers.inline:
                self._report()

    def _report(self) -> None:
        self._on_status(self._status())

    def _status(self) -> CampaignStatus:
        live = tuple(self._live.copy().values())
        return CampaignStatus(
            len(self._run.results),
            len(self._run.results)
            + len(self._waiting)
            + len(self._suspects)
            + len(self._under_way),
            self._work + sum(progress.work for progress in live),
            self._plan.total,
            self._begun,
            monotonic() - self._start,
            dict(self._counts),
            tuple(progress.counts for progress in live),
        )


def _error(future: Future[ShardResult]) -> BaseException | None:
    """The error that a finished future raised, if any."""
    return CancelledError() if future.cancelled() else future.exception()
