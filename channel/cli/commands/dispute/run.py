"""`channelsim dispute run`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import (
    NO_REPORTS,
    Cluster,
    Out,
    ReportFiles,
    Resume,
    SessionFiles,
)
from channelsim.channel.cli.options import (
    MaxFee,
    MaxFees,
    Mix,
    NoProgress,
    Seed,
    argument,
    flag,
    option_group,
    text,
    whole,
)
from channelsim.channel.protocol.bounds import MOST_BYTES, MOST_STATES, USUAL_BYTES, USUAL_STATES
from channelsim.channel.session.defaults import NAMES
from channelsim.channel.simulation.bounds import (
    DEFAULT_SEED,
    MOST_FEES,
    MOST_HANDS,
    MOST_RATE,
    MOST_STEPS,
    WEATHERS,
)

MOST_SEEDS = 1_000_000


@option_group
class ScenarioOptions:
    """The options that are fields of a `Scenario`; None is its default."""

    weather: Annotated[str | None, text(f"The chain: {', '.join(WEATHERS)} (calm).")] = None
    fees: Annotated[
        int | None,
        whole(
            0,
            MOST_FEES,
            "What the honest peer's node asks of a typical spend, in mojos (0). In a dispute,"
            " --max-fee is 20 times as much by default, and --max-fees 50 times --max-fee.",
        ),
    ] = None
    max_fee: MaxFee = None
    max_fees: MaxFees = None
    crowd: Annotated[
        int | None,
        whole(
            1,
            MOST_RATE,
            "Others fill the blocks of the dispute, at this many mojos per cost (nobody does).",
        ),
    ] = None
    hands: Annotated[int | None, whole(1, MOST_HANDS, "How often the games are played (1).")] = None
    staggered: Annotated[bool, flag("Start each game some moves after the previous one.")] = False
    old_copy: Annotated[
        int | None,
        whole(
            1,
            MOST_STEPS,
            "The event before which the honest peer goes on from an old copy of its files; without"
            " NAME, both peers are honest.",
        ),
    ] = None
    most_states: Annotated[
        int | None,
        whole(10, MOST_STATES, f"The honest peer's own limit of states ({USUAL_STATES})."),
    ] = None
    most_bytes: Annotated[
        int | None,
        whole(
            10_000, MOST_BYTES, f"The honest peer's own limit of bytes for them ({USUAL_BYTES})."
        ),
    ] = None
    mixed: Mix = False


@option_group
class DisputeRunOptions:
    """The options of `dispute run`."""

    name: Annotated[
        str | None, argument("An adversary (see `dispute list`): NAME, or NAME@STEP.")
    ] = None
    everything: Annotated[bool, flag("Run every adversary.", "--all")] = False
    seeds: Annotated[int | None, whole(1, MOST_SEEDS, "With --all: how many seeds (1).")] = None
    jobs: Annotated[int | None, whole(1, 256, "With --all: how many processes (1).")] = None
    seed: Seed = DEFAULT_SEED
    at: Annotated[
        int | None,
        whole(
            0,
            MOST_STEPS,
            "The number of its messages after which it deviates (8, or fewer in a short hand).",
        ),
    ] = None
    side: Annotated[
        str | None,
        text(f"Which peer the adversary is: {' or '.join(NAMES)} ({NAMES[1]})."),
    ] = None
    game: Annotated[
        str | None,
        text(
            "A game, or several separated by commas, live at the same time. With --all: only these."
        ),
    ] = None
    scenario: ScenarioOptions
    files: SessionFiles
    reports: ReportFiles = NO_REPORTS
    out: Out = None
    resume: Resume = False
    cluster: Cluster = None
    quiet: NoProgress = False


def command(options: DisputeRunOptions) -> int:
    """Run a dispute, or with --all every adversary.

    Exit code 1: a promise is broken, or a dispute crashed its worker.

    Example: channelsim dispute run silent@7 --weather reorgs --seed 3
    """
    from channelsim.channel.cli.work.dispute_run import run

    return run(options)
