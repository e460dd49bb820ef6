"""The instants at which a peer may be killed."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.session.deck_works import Computing
from channelsim.channel.simulation.crashes import run_killed
from channelsim.channel.simulation.kills import Kill
from channelsim.channel.simulation.scenario import Scenario


def every_instant(
    scenario: Scenario, side: int, compute_deck: Computing | None = None
) -> Sequence[Kill]:
    """List the instants that this side's peer lives through if it is never killed."""
    instants: list[Kill] = []

    def lives(killed: int, kill: Kill) -> bool:
        if killed == side:
            instants.append(kill)
        return False

    run_killed(scenario, lives, compute_deck=compute_deck)
    return instants
