"""`channelsim crash-test`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    ReportFiles,
)
from channelsim.channel.cli.options import (
    Mix,
    NoProgress,
    OutputForm,
    Seed,
    flag,
    option_group,
    whole,
)

MOST_KILLS = 1_000_000


@option_group
class CrashTestOptions:
    """The options of `crash-test`."""

    kills: Annotated[int, whole(1, MOST_KILLS, "How often peers are killed.")] = 200
    seed: Seed = "crashes"
    jobs: Annotated[int, whole(1, 256, "How many processes.")] = 1
    processes: Annotated[
        bool, flag("Kill real processes, including the node; all have files on disk.")
    ] = False
    mix: Mix = False
    per_stage: Annotated[int, whole(0, MOST_KILLS, "Fail if there are fewer kills in a stage.")] = 0
    form: OutputForm
    reports: ReportFiles = NO_REPORTS
    quiet: NoProgress = False


def command(options: CrashTestOptions) -> int:
    """Kill peers in sessions and disputes, restart them from their stores, and check every promise.

    The sessions are those of `attack`: a peer is stopped before an event is stored, or between two
    of its effects. With --processes it and the node are processes of their own, killed by SIGKILL
    at random instants. Kills are aimed at the stages of a session in turn: opening, deck step,
    batch, shutdown and dispute. Each failure is printed on stderr soon after it is found, and all
    of them at the end. Exit code 1: a peer contradicted what it had signed, a promise was broken,
    or a stage has too few kills.

    Example: channelsim crash-test --kills 1000 --jobs 2
    """
    from channelsim.channel.cli.work.crash_test import crash_test

    return crash_test(options)
