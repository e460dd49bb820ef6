"""Attacked sessions in which a hostile side pins a spend of the honest one."""

from __future__ import annotations

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.world import run
from channelsim.channel.peer.fees import answers

UNROLLS = (
    Action("deviate", 0, 0, name="stale-previous"),
    Action("propose", 0, 20),
    Action("spend", 0, 1, 247, since="shutdown"),
    Action("stop", 1, 1, since="unroll", blocks=7),
    Action("fill", 0, 2, 41, since="chain"),
)


def broken(adversary: str) -> str:
    pins = Action("deviate", 0, 11, 496, name=adversary)
    attack = Attack(("calpoker",), "faults/590", (*UNROLLS, pins), 1, watched=True)
    session = run(attack)
    assert pins in session.done
    return " ".join(violation.text for violation in session.violations)


def test_a_pin_of_half_a_block_cannot_be_replaced() -> None:
    """No mempool takes a bundle of more than half a block, which a replacement would be."""
    assert broken("heavy-pinner") == ""


def test_a_lighter_pin_must_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken("pinner") == ""
    monkeypatch.setattr(answers, "_union", lambda *given: None)
    assert "CH-FEE-3: it leaves its" in broken("pinner")
