"""Every adversary once on the genuine node: CHANNELSIM_EVERY_ADVERSARY=1, some minutes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario, reason_against
from tests.real_node.chain import RealChain
from tests.real_node.shared import SharedBlocks, all_on
from tests.real_node.spends import Counts, table
from tests.real_node.test_disputes import play, scenario

AT_ONCE = 30
"""Disputes that share the chain at a time."""

ATTEMPTS = tuple(product(((1, 0), (4, 0), (8, 1000)), ("spacepoker", "holdem"), (1, 0)))
"""Tried in turns until the adversary finds something to change: hands and balance (0: enough
for all hands), game, and side."""

Played = tuple[Run, list[BrokenPromise], Counts]


@pytest.mark.skipif("CHANNELSIM_EVERY_ADVERSARY" not in os.environ, reason="takes some minutes")
def test_every_adversary_deviates_and_breaks_no_promise(
    chain: RealChain, record_property: Callable[[str, object], None]
) -> None:
    games = tuple({game for _, game, _ in ATTEMPTS})
    tried = {name for name in names() if not reason_against(name, games)}
    left, faults = set(tried), list[str]()
    counts: Counts = Counter()
    for (hands, balance), game, side in ATTEMPTS:
        scenarios = [
            scenario(name, game, hands=hands, balance=balance, side=side) for name in sorted(left)
        ]
        for run, broken, mined in all_played(chain, scenarios):
            name = run.scenario.adversary
            faults += [f"{name}: {broken}"] if broken else []
            if run.deviated:
                left.remove(name)
                counts += mined
    deviated = f"{len(tried) - len(left)} of {len(tried)} adversaries deviated"
    record_property("every adversary", f"{deviated}; broken promises: {faults or 'none'}")
    record_property("spends", table(counts))
    assert not faults
    assert not left, sorted(left)


def all_played(chain: RealChain, scenarios: list[Scenario]) -> Iterator[Played]:
    """Play these disputes, many at once; those that replace blocks alone."""
    alone: list[Scenario] = []
    for at in range(0, len(scenarios), AT_ONCE):
        batch = scenarios[at : at + AT_ONCE]
        chain.reset()
        for one, played in zip(batch, all_on(chain, [*map(play_shared, batch)]), strict=True):
            if played is None:
                alone.append(one)
            else:
                yield played
    for one in alone:
        chain.reset()
        yield play(one)(chain)


def play_shared(one: Scenario) -> Callable[[FarmableChain], Played | None]:
    """A dispute on a shared chain; None if it would replace blocks."""

    def played(chain: FarmableChain) -> Played | None:
        try:
            return play(one)(chain)
        except SharedBlocks:
            return None

    return played
