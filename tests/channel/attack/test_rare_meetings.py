"""Faults that are reached where several actions meet: scripts made for them notice each."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.campaign import broken_by
from channelsim.channel.attack.company import waiting_proposals
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.simulation.terms import Proposals, Terms
from channelsim.games.chance import Chance
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults

TABLE = {fault.name: fault for fault in faults()}

FALSE_CARD = Attack(("holdem",), "bc1", (Action("deviate", 1, 7, 1, name="false-advisory"),))

WITHDRAWN = Attack(
    ("calpoker", "spacepoker"),
    "w13",
    tuple(waiting_proposals(Chance(b"w13"))),
    terms=Terms(proposals=Proposals.STAGGERED),
)


@pytest.mark.parametrize(
    ("name", "attack", "monitor"),
    [
        ("believes-claimed-cards", FALSE_CARD, "news"),
        ("asks-about-withdrawn-proposals", WITHDRAWN, "asks"),
    ],
)
def test_a_rare_fault_is_noticed(name: str, attack: Attack, monitor: str) -> None:
    with fast_mode():
        assert broken_by(attack) == {}
        with ExitStack() as stack:
            TABLE[name].plant(stack, Reach())
            assert monitor in broken_by(attack)
