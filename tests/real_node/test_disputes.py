"""Disputes on the genuine node: each promise is checked, and each kind of spend is mined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from channelsim.channel.adversaries.registry import get
from channelsim.channel.attack.disputes import Dispute
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import FEES, Scenario
from tests.channel.scenarios import changed, dispute
from tests.real_node.chain import RealChain
from tests.real_node.shared import all_on
from tests.real_node.spends import KINDS, Counts, mined, table


def scenario(
    adversary: str, game: str = "spacepoker", fees: int = 0, seed: str = "real", **more: object
) -> Scenario:
    step = get(adversary).default_step if adversary else 0
    usual = Scenario((game,), f"{seed} {adversary} {game} {fees}", adversary, step)
    return changed(usual, fees=fees, **more)


def paying(adversary: str) -> Scenario:
    """A dispute whose stakes are worth fees, for claims and shutdowns too."""
    return scenario(adversary, fees=FEES, unit=10**8, max_fee=10**8, max_fees=2 * 10**9)


SHARED = (
    # stale states, preempted or not
    *map(scenario, ("stale-oldest", "stale-previous", "stale-any", "stale-hand", "leaver")),
    *map(scenario, ("late-preempter", "late-preempter-1", "impatient", "self-preempter")),
    # silence, and moves at the last moment
    *map(scenario, ("silent", "dead", "staller", "late-mover", "late-mover-1")),
    scenario("late-mover-2", seed="really"),
    # illegal moves, slashed
    *map(scenario, ("illegal-on-chain", "wrong-reveal", "greedy-share", "overraise")),
    *map(scenario, ("wrong-terminal", "non-minimal-on-chain", "evidence-forger")),
    # claims, pins and the ends of a channel
    *map(scenario, ("claimer", "payout-thief", "pinner", "withholder", "leaves-closing")),
    *map(scenario, ("double-spender", "secret-funder", "garbler", "madman")),
    # cards
    *(
        scenario(name, "holdem", side=0)
        for name in ("silent", "wrong-card", "wrong-opening", "stale-oldest", "illegal-on-chain")
    ),
    # with fees
    *map(paying, ("stale-previous", "dead", "wrong-reveal", "late-preempter-1", "leaver")),
    *map(paying, ("impatient", "leaves-closing", "stale-oldest", "greedy-share")),
)

ALONE = tuple(
    scenario(name)
    for name in ("rewinder", "answers-again", "resurrector", "funding-rewinder", "undoes-shutdown")
)
"""Adversaries that replace blocks, which no other dispute may share."""

COUNTS: Counts = Counter()


def played(done: Dispute) -> tuple[Run, list[BrokenPromise], Counts]:
    return done.run, done.broken, mined(done.run)


def play(one: Scenario) -> Callable[[FarmableChain], tuple[Run, list[BrokenPromise], Counts]]:
    return lambda chain: played(dispute(one, chain))


def verdict(run: Run, broken: list[BrokenPromise], counts: Counts) -> str:
    """The failure of a run, if it has one. It counts only if the adversary deviated."""
    COUNTS.update(counts)
    one = run.scenario
    name = f"{one.adversary} in {one.games[0]} with fees of {one.terms.fees}"
    if not run.deviated:
        return f"{name} did not deviate"
    return f"{name}: {broken}" if broken else ""


def test_disputes_that_share_the_chain(chain: RealChain) -> None:
    assert len({one.adversary for one in SHARED}) >= 20
    ended = all_on(chain, [play(one) for one in SHARED])
    assert [*filter(None, (verdict(*each) for each in ended))] == []


@pytest.mark.parametrize("one", ALONE, ids=[one.adversary for one in ALONE])
def test_disputes_in_which_the_adversary_replaces_blocks(chain: RealChain, one: Scenario) -> None:
    run, broken, counts = play(one)(chain)
    assert verdict(run, broken, counts) == ""
    assert run.reorgs


@pytest.mark.parametrize("adversary", ["stale-any", "leaver"])
def test_disputes_while_blocks_are_replaced(chain: RealChain, adversary: str) -> None:
    run, broken, counts = play(scenario(adversary, weather="reorgs"))(chain)
    assert verdict(run, broken, counts) == ""
    assert run.reorgs


def test_each_kind_of_spend_was_mined(record_property: Callable[[str, object], None]) -> None:
    record_property("spends", table(COUNTS))
    missing = [kind for kind in product(KINDS.values(), (False, True)) if not COUNTS[kind]]
    assert not missing, table(COUNTS)
