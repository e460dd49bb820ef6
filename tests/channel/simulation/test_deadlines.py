"""A reorganisation of one block at every deadline of the protocol: every promise is kept."""

from __future__ import annotations

import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.attack.disputes import Dispute
from channelsim.channel.peer.chain_news import ChannelSettled, LeftForChain
from channelsim.channel.peer.interface import OpeningFailed
from channelsim.channel.simulation.deadlines import Deadline
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.scenarios import changed, dispute

LETS_DEADLINES_PASS = (
    *("", "dead", "silent", "leaver", "no-funding"),
    *("late-mover-2", "stale-oldest", "late-funder"),
)
"""Adversaries that bring the honest side to a deadline of each kind."""


def run(name: str, number: int) -> Dispute:
    game = ("spacepoker", "calpoker")[number // 2 % 2]
    step = (0, 2, 8, 16)[number % 4] if name else 0
    scenario = Scenario((game,), f"d{number}", name, step, number % 2, weather="deadlines")
    return dispute(changed(scenario, fees=5 * (number % 3 == 0)))


def struck(done: Dispute) -> set[str]:
    """The kinds of deadlines at which a block was replaced."""
    lines = (line.partition(" ")[2] for line in done.session.log)
    return {kind for line in lines if line.startswith("at ") for kind in line[3:].split(", ")}


@pytest.mark.long
def test_a_block_is_replaced_at_deadlines_and_no_promise_is_broken() -> None:
    kinds: set[str] = set()
    for number, name in enumerate(LETS_DEADLINES_PASS):
        done = run(name, number)
        assert done.broken == [], (name, number)
        assert bool(struck(done)) == bool(done.run.reorgs) or name == "late-funder"
        kinds |= struck(done)
    assert kinds <= {kind.value for kind in Deadline}
    assert len(kinds) > 3


@pytest.mark.long
@pytest.mark.parametrize("name", ["", *names()])
def test_no_adversary_gains_by_a_block_that_is_replaced_at_a_deadline(name: str) -> None:
    for number in range(12):
        assert run(name, number).broken == [], number


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_a_funding_that_a_reorganisation_of_one_block_brings_in_late_is_unrolled(
    side: int, mixed: bool
) -> None:
    done = dispute(Scenario(("spacepoker",), "late", "late-funder", 0, side, mixed=mixed))
    assert done.run.deviated
    assert done.broken == []
    news = [type(report) for report in done.run.parties[1 - side].news]
    assert news[-1] is ChannelSettled
    assert news.index(OpeningFailed) < news.index(LeftForChain)
