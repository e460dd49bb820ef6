"""`channelsim mutants`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import (
    CampaignOptions,
)
from channelsim.channel.cli.options import (
    DAY,
    Seed,
    TargetName,
    file_option,
    flag,
    option_group,
    real,
    text,
)


@option_group
class MutantsOptions:
    """The options of `mutants`."""

    game: TargetName
    seconds: Annotated[
        float, real(0.001, DAY, "Hunt each mutant for this many seconds of work.")
    ] = 60.0
    seed: Seed = "mutants"
    corpus: Annotated[
        Path | None,
        file_option(
            "A folder of cases that every mutant meets first (that of the game's package)."
        ),
    ] = None
    validator: Annotated[
        str | None,
        text("Only mutants of this validator, or of the `referee` (all validators)."),
    ] = None
    argued: Annotated[bool, flag("Also hunt mutants that have a stored reason.")] = False
    prove_seconds: Annotated[
        float | None,
        real(
            0,
            DAY,
            "Ask the prover about each survivor for so many seconds of work (5, but no more than"
            " --seconds; 0: do not ask).",
        ),
    ] = None
    campaign: CampaignOptions


def command(options: MutantsOptions) -> int:
    """Change compiled programs in one place at a time, and check that the lab finds each change.

    Of a target without rules, only stored cases and honest play can find them.

    With z3-solver, the prover is asked about mutants that survive without a stored reason
    (with --argued, about all). Exit code 1: a mutant survives without a reason or a proof that it
    is equivalent, or crashed its worker.

    Example: channelsim mutants {game} --seconds 60
    """
    from channelsim.channel.cli.work.mutants import hunt_mutants

    return hunt_mutants(options)
