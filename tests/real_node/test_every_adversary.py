"""Every adversary once on the genuine node: CHANNELSIM_EVERY_ADVERSARY=1, some minutes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from channelsim.channel.adversaries.base import names
from channelsim.channel.simulation.scenario import Scenario
from tests.real_node.chain import RealChain
from tests.real_node.shared import all_on
from tests.real_node.spends import Counts, table
from tests.real_node.test_disputes import ALONE, play, scenario

AT_ONCE = 30
"""Disputes that share the chain at a time."""

ATTEMPTS = tuple(product(((1, 0), (4, 0), (8, 1000)), ("spacepoker", "holdem"), (1, 0)))
"""Tried in turns until the adversary finds something to change: hands and contribution (0: enough
for all hands), game, and side."""

REPLACES_BLOCKS = {one.adversary for one in ALONE} | {"chameleon"}


@pytest.mark.skipif("CHANNELSIM_EVERY_ADVERSARY" not in os.environ, reason="takes some minutes")
def test_every_adversary_deviates_and_breaks_no_promise(
    chain: RealChain, record_property: Callable[[str, object], None]
) -> None:
    left, faults = set(names()), list[str]()
    counts: Counts = Counter()
    for (hands, contribution), game, side in ATTEMPTS:
        scenarios = [
            scenario(name, game, hands=hands, contribution=contribution, side=side)
            for name in sorted(left)
        ]
        apart = [[one] for one in scenarios if one.adversary in REPLACES_BLOCKS]
        shared = [one for one in scenarios if one.adversary not in REPLACES_BLOCKS]
        batches = [shared[at : at + AT_ONCE] for at in range(0, len(shared), AT_ONCE)]
        for batch in batches + apart:
            done, wrong, mined = ended(chain, batch)
            left -= done
            faults += wrong
            counts += mined
    tried = f"{len(names()) - len(left)} of {len(names())} adversaries deviated"
    record_property("every adversary", f"{tried}; broken promises: {faults or 'none'}")
    record_property("spends", table(counts))
    assert not faults
    assert not left, sorted(left)


def ended(chain: RealChain, batch: list[Scenario]) -> tuple[set[str], list[str], Counts]:
    """Play these disputes: who deviated, the promises that were broken, and what was mined."""
    chain.reset()
    runs = [play(batch[0])(chain)] if len(batch) == 1 else all_on(chain, [*map(play, batch)])
    deviated, faults = set[str](), list[str]()
    counts: Counts = Counter()
    for run, broken, mined in runs:
        name = run.scenario.adversary
        faults += [f"{name}: {broken}"] if broken else []
        if run.deviated:
            deviated.add(name)
            counts += mined
    return deviated, faults, counts
