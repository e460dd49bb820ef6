"""A real cluster of two workers gives the results of this process, also when one is killed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from logging import CRITICAL
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.campaign import campaign
from channelsim.channel.campaign import job as campaign_job
from channelsim.channel.campaign.dask_cluster import DaskCluster
from channelsim.channel.campaign.engine import CampaignRun, run
from channelsim.channel.campaign.shards import Plan, in_order
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.crosscheck.chunks import CHUNK
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck, crosscheck_of
from channelsim.channel.lab.targets.loading import load
from tests.channel.campaign.summing import PLAN, Place, Squares, expected
from tests.sampling import one_in

# It is imported where it is used: that takes as long as to collect a tenth of all tests.
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="an extra: cluster")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The scheduler of a cluster of two workers in processes of their own."""
    distributed: Any = import_module("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # another run may have the usual port
        worker_dashboard_address=None,
        silence_logs=CRITICAL,
    )
    with cluster:
        yield cluster.scheduler_address


def joined(done: CampaignRun[list[int]]) -> list[int]:
    return [number for part in in_order(done.results) for number in part]


@pytest.mark.parametrize("kills_parent", [False, True], ids=("a process", "a worker"))
def test_a_cluster_gives_the_same_also_with_something_killed(
    kills_parent: bool, address: str, tmp_path: Path
) -> None:
    (tmp_path / "kill").touch()
    job = Squares(kill_once=str(tmp_path / "kill"), kills_parent=kills_parent)
    done = run(job, PLAN, DaskCluster(address))
    assert not (tmp_path / "kill").exists()
    assert joined(done) == expected()
    assert not done.lost


@pytest.mark.long
def test_a_crosscheck_on_a_cluster_is_the_one_here(address: str) -> None:
    target = load("spacepoker")
    place = campaign.Place(lambda: DaskCluster(address))
    there = crosscheck_of(target, CHUNK + 100, "s").run(place)
    assert there.digest == crosscheck(target, CHUNK + 100, "s").digest
    assert (there.cases, there.shards, there.lost) == (CHUNK + 100, 2, ())


def test_an_error_on_a_cluster_is_one_line(address: str) -> None:
    with pytest.raises(UsageError, match="60: no number of mine"):
        run(Squares(refused=60), PLAN, DaskCluster(address))


def test_shards_on_a_cluster_run_where_authors_code_is_bounded(address: str) -> None:
    """Nor does another thread there look into frames, whose CLVM objects belong to one thread."""
    done = run(Place(), Plan("", 2, 1), DaskCluster(address))
    assert [(main, often > 0) for main, often in done.results.values()] == [(True, True)] * 2


def test_a_seed_that_ends_its_process_on_a_cluster_is_isolated(address: str) -> None:
    plan = Plan(PLAN.configuration, 8, 4, least=4)
    done = run(Squares(deadly=5), plan, DaskCluster(address))
    assert joined(done) == [0, 1, 4, 9]
    assert [(one.first, one.budget) for one in done.lost] == [(1, 4)]


def test_workers_of_another_version_are_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_job, "__version__", "0.0")  # here, and not on the workers
    with pytest.raises(UsageError, match=r"a worker has channelsim .*, this command 0\.0: install"):
        run(Place(), Plan("", 1, 1), DaskCluster(address))


def test_workers_without_a_plug_in_are_refused(address: str) -> None:
    target = load("spacepoker")
    right = crosscheck_of(target, CHUNK, "s")
    inputs = {**right.configuration.inputs, "plug-in chess": "1.0"}
    configuration = msgspec.structs.replace(right.configuration, inputs=inputs)
    job = replace(right, configuration=configuration)
    with pytest.raises(
        UsageError, match="a worker lacks the plug-in chess with which the campaign"
    ):
        run(job, job.plan, DaskCluster(address))


@pytest.mark.parametrize(
    "address",
    one_in(
        6, ["", "nowhere", "tcp://", "other://host:1", "tcp://host:port", "tcp://localhost:65536"]
    ),
)
def test_what_is_no_address_is_one_line(address: str) -> None:
    with pytest.raises(UsageError, match=f"^--cluster {address}: no scheduler answers \\(.*\\)$"):
        DaskCluster(address)
