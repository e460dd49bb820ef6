"""A reorganisation of one block at every deadline of the protocol: every promise is kept."""

from __future__ import annotations

from itertools import product

import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.peer.chain_news import ChannelSettled, LeftForChain
from channelsim.channel.peer.interface import OpeningFailed
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.deadlines import Deadline
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario

LETS_DEADLINES_PASS = (
    *("", "dead", "silent", "leaver", "no-funding"),
    *("late-mover-2", "stale-oldest", "late-funder"),
)
"""Adversaries that bring the honest side to a deadline of each kind."""


def run(name: str, number: int) -> Run:
    game = ("spacepoker", "calpoker")[number // 2 % 2]
    step = (0, 2, 8, 16)[number % 4] if name else 0
    fees = 5 * (number % 3 == 0)
    return Arena(
        Scenario((game,), f"d{number}", name, step, number % 2, weather="deadlines", fees=fees)
    ).run()


def test_a_block_is_replaced_at_every_kind_of_deadline_and_no_promise_is_broken() -> None:
    struck: set[Deadline] = set()
    for number, name in product(range(4), LETS_DEADLINES_PASS):
        done = run(name, number)
        assert check(done) == [], (name, number)
        assert bool(done.struck) == bool(done.reorgs) or name == "late-funder"
        struck |= done.struck
    assert struck == {*Deadline}


@pytest.mark.long
@pytest.mark.parametrize("name", ["", *names()])
def test_no_adversary_gains_by_a_block_that_is_replaced_at_a_deadline(name: str) -> None:
    for number in range(12):
        assert check(run(name, number)) == [], number


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_a_funding_that_a_reorganisation_of_one_block_brings_in_late_is_unrolled(
    side: int, mixed: bool
) -> None:
    done = Arena(Scenario(("spacepoker",), "late", "late-funder", 0, side, mixed=mixed)).run()
    assert done.deviated
    assert check(done) == []
    news = [type(report) for report in done.parties[1 - side].news]
    assert news[-1] is ChannelSettled
    assert news.index(OpeningFailed) < news.index(LeftForChain)
