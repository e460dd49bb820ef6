"""The results of a campaign are the same wherever and in whatever order its shards are done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from pickle import PicklingError

import pytest

from channelsim.channel.campaign.engine import CampaignRun, CampaignStatus, run
from channelsim.channel.campaign.executors import Processes, ThisProcess, Workers
from channelsim.channel.campaign.shards import in_order
from channelsim.channel.errors import UsageError
from tests.channel.campaign.any_executor import AnyExecutor
from tests.channel.campaign.shuffled import Shuffled
from tests.channel.campaign.summing import PLAN, UNIT, Squares, expected


def joined(done: CampaignRun[list[int]]) -> list[int]:
    return [number for part in in_order(done.results) for number in part]


@pytest.mark.parametrize("size", [1, 2, 7])
def test_any_number_of_workers_and_any_order_give_the_same(size: int) -> None:
    seen: list[CampaignStatus] = []
    workers = AnyExecutor(lambda: Shuffled(b"order"), size)
    done = run(Squares(), PLAN, workers, on_status=seen.append)
    assert joined(done) == expected()
    assert not done.lost
    assert not done.interrupted
    assert (seen[-1].shards, seen[-1].work) == (PLAN.size, PLAN.total)
    assert {one.planned for one in seen} == {PLAN.size}
    assert joined(run(Squares(), PLAN, ThisProcess())) == expected()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Processes(2),
        lambda: AnyExecutor(lambda: ProcessPoolExecutor(2, get_context("spawn")), 2),
    ],
    ids=("ours", "the library's"),
)
def test_a_worker_that_is_killed_changes_nothing(
    make: Callable[[], Workers], tmp_path: Path
) -> None:
    (tmp_path / "kill").touch()
    done = run(Squares(kill_once=str(tmp_path / "kill")), PLAN, make())
    assert not (tmp_path / "kill").exists()
    assert joined(done) == expected()
    assert not done.lost


def test_a_seed_that_ends_its_worker_is_isolated_and_its_work_halved() -> None:
    done = run(Squares(deadly=49), PLAN, Processes(2))
    assert joined(done) == [n * n for n in range(90) if n not in (49, 50, 51)]
    (lost,) = done.lost
    assert (lost.first, lost.budget) == (48 // UNIT, 3)


def test_an_error_of_a_shard_ends_the_campaign() -> None:
    for workers in (ThisProcess(), Processes(1)):
        with pytest.raises(UsageError, match="60: no number of mine"):
            run(Squares(refused=60), PLAN, workers)


def test_a_job_that_cannot_travel_is_what_the_error_is_about() -> None:
    class Local(Squares):
        """No worker can import it."""

    for workers in (Processes(1), AnyExecutor(partial(ThreadPoolExecutor, 1), 1)):
        with pytest.raises((PicklingError, AttributeError), match=r"<locals>\.Local"):
            run(Local(), PLAN, workers)
