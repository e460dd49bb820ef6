"""`channelsim crosscheck`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import (
    CampaignOptions,
)
from channelsim.channel.cli.options import (
    MOST_CASES,
    Seed,
    TargetName,
    Watch,
    option_group,
    whole,
)


@option_group
class CrosscheckOptions:
    """The options of `crosscheck`."""

    target: TargetName
    cases: Annotated[int, whole(1, MOST_CASES, "How many cases.")] = 50_000
    seed: Seed = "crosscheck"
    again: Watch = False
    campaign: CampaignOptions


def command(options: CrosscheckOptions) -> int:
    """Compare programs with the rules, on generated hands and mutated moves.

    Exit code 1: a law is broken, a validator was never tried, or a case crashed its worker.

    Example: channelsim crosscheck my-validators.toml --cases 1000000
    """
    from channelsim.channel.cli.work.crosscheck import crosscheck

    return crosscheck(options)
