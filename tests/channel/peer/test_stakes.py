"""The stake that a peer names for a spend, which bounds its fee: the same in every push."""

from __future__ import annotations

import pytest

from channelsim.channel.adversaries.registry import get
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.peer.interface import Push
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.scenarios import dispute

ADVERSARIES = ("stale-previous", "dead", "wrong-reveal", "leaver", "claimer", "self-preempter")


def stakes(run: Run) -> dict[tuple[str, Bundle], set[int]]:
    """The stakes of the honest side's pushes."""
    entries = run.parties[run.scenario.honest].journal
    named: dict[tuple[str, Bundle], set[int]] = {}
    for push in (effect for entry in entries for effect in entry.effects):
        if isinstance(push, Push):
            named.setdefault((push.name, push.bundle), set()).add(push.stake)
    return named


@pytest.fixture(scope="module")
def all_stakes() -> dict[tuple[str, Bundle], set[int]]:
    named = dict[tuple[str, Bundle], set[int]]()
    for name in ADVERSARIES:
        # In slow weather, the first push of a spend is not the one that gets in.
        scenario = Scenario(("spacepoker",), name, name, get(name).default_step, weather="slow")
        named |= stakes(dispute(scenario).run)
    return named


def test_each_kind_of_spend_names_the_same_stake_in_every_push(
    all_stakes: dict[tuple[str, Bundle], set[int]],
) -> None:
    kinds = {name for name, _ in all_stakes}
    urgent = {"unroll", "preempt", "slash", "move", "redo"}
    assert kinds >= {"funding", "claim", "unroll-timeout", "shutdown", *urgent}
    different = {name: found for (name, _), found in all_stakes.items() if len(found) > 1}
    assert different == {}


def test_something_is_at_stake_for_each_kind_of_spend(
    all_stakes: dict[tuple[str, Bundle], set[int]],
) -> None:
    most = dict[str, int]()
    for (name, _), found in all_stakes.items():
        most[name] = max(most.get(name, 0), *found)
    assert [name for name, stake in most.items() if not stake] == []
