"""Sessions in which a node falls back once a game has ended, or hides how the shutdown was made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.world import run
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.simulation.terms import Proposals, Terms
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults

TABLE = {fault.name: fault for fault in faults()}


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with fast_signatures():
        yield


def broken_with(name: str, attack: Attack) -> str:
    """The violations of a session with a fault, if one is named."""
    with ExitStack() as stack:
        if name:
            TABLE[name].plant(stack, Reach())
        session = run(attack)
    assert {*session.done} == {*attack.actions}
    return " ".join(violation.text for violation in session.violations)


FALLS_BACK = tuple(Action("node-behind", side, 60, 2, since="paid", blocks=2) for side in (0, 1))


def test_the_end_of_a_game_is_not_undone_while_a_node_shows_an_older_tip() -> None:
    attack = Attack(
        ("spacepoker", "calpoker"),
        "g0",
        (Action("go-on-chain", 0, 30), *FALLS_BACK),
        terms=Terms(proposals=Proposals.TOGETHER),
    )
    assert broken_with("", attack) == ""
    assert "final news was undone: GameEnded" in broken_with("undoes-final-games", attack)


def test_a_shutdown_is_known_by_its_coins_while_a_node_hides_how_it_was_made() -> None:
    """The other side completes it while this one goes on chain."""
    attack = Attack(
        ("spacepoker",),
        "s0",
        (
            Action("delay", 0, 0, pause=60, since="shutdown"),
            Action("go-on-chain", 1, 1, since="shutdown"),
            Action("push-held", 1, 0, 3, since="shutdown"),
            Action("solutions-hidden", 1, 1, since="shutdown", blocks=4),
        ),
        hands=1,
    )
    assert broken_with("", attack) == ""
    says = "hears of what its store lacks"
    assert says in broken_with("hidden-shutdown-is-unknown", attack)
