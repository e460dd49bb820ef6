"""`channelsim dispute faults`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    ReportFiles,
)
from channelsim.channel.cli.options import (
    NoProgress,
    OutputForm,
    Seed,
    argument,
    option_group,
    whole,
)


@option_group
class DisputeFaultsOptions:
    """The options of `dispute faults`."""

    names: Annotated[list[str] | None, argument("Names of faults, or parts of names (all).")] = None
    jobs: Annotated[int, whole(1, 256, "How many processes.")] = 1
    seed: Seed = "faults"
    form: OutputForm
    reports: ReportFiles = NO_REPORTS
    quiet: NoProgress = False


def command(options: DisputeFaultsOptions) -> int:
    """Plant faults in the honest peer, and report which adversary and promise detects each.

    Each check of the engine is left out in turn, and many things are done wrongly. Exit code 1: a
    fault went unnoticed.

    Example: channelsim dispute faults --jobs 2
    """
    from channelsim.channel.cli.work.dispute_faults import plant_faults

    return plant_faults(options)
