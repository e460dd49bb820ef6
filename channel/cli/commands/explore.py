"""`channelsim explore`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.cli.option_groups import CampaignOptions
from channelsim.channel.cli.options import Seed, option_group, real, whole
from channelsim.games.names import DEFAULT

MOST_STATES = 100_000_000
MOST_SECONDS = 10_000_000


@option_group
class ExploreOptions:
    """The options of `explore`."""

    games: Annotated[
        list[str] | None,
        typer.Argument(help=f"Games; a+b are played at once ({DEFAULT}, and two of it)."),
    ] = None
    states: Annotated[
        int | None, whole(1, MOST_STATES, "Only so many states of each search, a part of it.")
    ] = None
    seconds: Annotated[
        float | None, real(0.1, MOST_SECONDS, "Stop after so many seconds, with a part.")
    ] = None
    seed: Seed = "explore"
    campaign: CampaignOptions


def command(options: ExploreOptions) -> int:
    """Visit every state of real peers on a small chain, within small bounds, and check promises.

    In one kind of search, one side stops at a moment of honest play, and then does on chain all
    that its signatures allow. In the other, two honest peers lose their connection and are killed,
    twice at most. A keyed hash replaces signatures; what it finds is confirmed with real ones, and
    `replay` walks it again. A whole search takes from seconds to hours. With --out, --resume goes
    on with one that was interrupted; with --states or --seconds it is a part, which the result
    says. Exit code 1: something is broken.

    Example: channelsim explore {game} --states 2000 --jobs 2
    """
    from channelsim.channel.cli.work.explore import explore

    return explore(options)
