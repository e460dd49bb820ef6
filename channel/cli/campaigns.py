"""Options of commands that run campaigns: where shards run, and where results are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.executors import Workers, processes
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, describe_lost
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.options import file_option
from channelsim.channel.errors import UsageError

Out = Annotated[
    Path | None,
    file_option("Store the campaign in this folder, so that it can be resumed and viewed."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the campaign in --out.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786."),
]


@contextmanager
def campaign_directory(
    path: Path | None, configuration: Configuration, plan: Plan, unit: str, *, resume: bool
) -> Iterator[CampaignDirectory[Any] | None]:
    """The directory that `--out` names, open; None without one. Raises `UsageError`."""
    if resume and path is None:
        raise UsageError("--resume: needs --out DIR, the folder of the campaign")
    opened = (
        nullcontext()
        if path is None
        else directory.opened(path, configuration, plan, unit, resume=resume)
    )
    with opened as made:
        yield made
        if made is not None:
            for line in made.complaints:
                complain(line)


def check_directory(
    path: Path | None, configuration: Configuration, unit: str, *, resume: bool
) -> None:
    """Refuse a wrong `--out` or `--resume` before a plan is made. Raises `UsageError`."""
    if path is not None and directory.is_campaign(path):
        plan = directory.read_campaign(path).plan
        with directory.opened(path, configuration, plan, unit, resume=resume):
            return
    if resume:
        what = "needs --out DIR, the folder of the campaign"
        raise UsageError(f"--resume: {what if path is None else f'no campaign is in {path}'}")


def chosen_workers(jobs: int, plan: Plan, cluster: str | None, *, stored: bool) -> Workers:
    """The workers of a campaign: a cluster, or processes. Raises `UsageError`.

    One job without a directory needs no process of its own.
    """
    if cluster is not None:
        from channelsim.channel.campaign.dask_cluster import DaskCluster

        workers = DaskCluster(cluster)
        if workers.is_empty:
            complain(f"--cluster {cluster}: no workers are there yet; waiting for them")
        return workers
    return processes(min(jobs, plan.size), inline=not stored)


def all_done(name: str, lost: Sequence[Shard], unit: str) -> bool:
    """True if no work was lost; otherwise stderr names the seeds that crashed their workers."""
    for line in describe_lost(lost, unit):
        complain(f"{name}: {line}")
    return not lost
