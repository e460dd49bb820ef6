"""`channelsim attack`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.attack.kinds import GROUPS
from channelsim.channel.cli.option_groups import AttackCampaign
from channelsim.channel.cli.options import DAY, Seed, flag, option_group, real, text, whole

MOST_RUNS = 10_000_000


@option_group
class AttackOptions:
    """The options of `attack`."""

    games: Annotated[list[str] | None, typer.Argument(help="Games (all by default).")] = None
    runs: Annotated[int | None, whole(1, MOST_RUNS, "How many sessions (100).")] = None
    seconds: Annotated[
        float | None, real(0.1, 30 * DAY, "Run sessions for about this many seconds instead.")
    ] = None
    faults: Annotated[
        str | None,
        text(
            f"Kinds of faults, and groups of them, separated by commas (all): {', '.join(GROUPS)}.",
            "LIST",
        ),
    ] = None
    fast: Annotated[bool, flag("Search with a keyed hash in the place of BLS.")] = False
    seed: Seed = "attack"
    campaign: AttackCampaign


def command(options: AttackOptions) -> int:
    """Search for faults that break a promise in whole sessions between two players.

    Each session runs both peers as `peer listen` and `peer connect` do, with their stores, links
    and players, against the embedded node, in virtual time. What goes wrong is drawn from the seed:
    messages, connections, nodes, disks, reorganisations, full blocks, kills, old copies, what
    players want, and what one side does that is hostile. Then nothing fails any more, and every
    honest side must settle. Every second script changes one that reached something new. A script
    that breaks a promise is shrunk and, with --out, stored; `replay` tries it again. --fast
    replaces signatures by a keyed hash, and confirms what it finds with real ones. With --runs, the
    same seed gives the same results, and --out is the folder of a campaign. Exit code 1: something
    is broken, or in 500 sessions or more some kind of fault never took place, or in 3,000 some goal
    was missed.

    Example: channelsim attack {game} --runs 200 --jobs 2
    """
    from channelsim.channel.cli.work.attack import attack

    return attack(options)
