"""Sessions and disputes on a chain of which one block in three carries transactions."""

from __future__ import annotations

import pytest

from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.setup import DEFAULT_STACK, DEFAULT_UNIT, Setup, check
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.promises.checker import check as broken_promises
from channelsim.channel.simulation.scenario import Scenario


@pytest.mark.parametrize("seed", range(3))
def test_a_session_ends_with_equal_sums(seed: int) -> None:
    setup = check(
        Setup(
            games=("spacepoker",),
            seed=f"mixed/{seed}",
            hands=2,
            unit=DEFAULT_UNIT,
            stack=DEFAULT_STACK,
            balance=20_000,
            policies=("random", "random"),
        )
    )
    chain = SimulatedChain(seed, NodeSettings(mixed=True))
    deciders = Deciders(setup)
    result = Session(setup, deciders.decide, deciders.answer, [], chain).run()
    assert result.checks.conserved
    assert any(
        not (one := chain.ledger.block(h)) or not one.carries for h in range(1, chain.peak())
    )


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ["stale-any", "leaver", "silent", "wrong-commitment"])
def test_a_dispute_keeps_all_promises_if_its_times_are_long(name: str, side: int) -> None:
    scenario = Scenario(
        ("spacepoker",),
        "mixed",
        name,
        step=8,
        side=side,
        unroll_timeout=60,
        game_timeout=60,
        mixed=True,
    )
    run = Arena(scenario).run()
    assert broken_promises(run) == []
    assert run.deviated
