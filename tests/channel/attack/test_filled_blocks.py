"""Attacked sessions in which others fill blocks, and in which decks are prepared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.filled_blocks import FILL
from channelsim.channel.attack.world import run
from channelsim.channel.crypto import bls
from channelsim.channel.peer.fees import paying


@pytest.fixture(autouse=True, scope="module")
def remembered() -> Iterator[None]:
    """Sessions of one seed sign the same messages."""
    with bls.remembered():
        yield


LEAVES = Action("go-on-chain", 0, 20)
FULL = tuple(Action(FILL, 0, at, 11) for at in (1, 13))


def attack(*actions: Action) -> Attack:
    return Attack(("calpoker",), "filled", actions)


def test_spends_get_into_full_blocks_for_a_fee(monkeypatch: pytest.MonkeyPatch) -> None:
    session = run(attack(LEAVES, *FULL))
    assert {*session.done} == {LEAVES, *FULL}
    assert session.violations == ()

    monkeypatch.setattr(paying, "wanted_fee", lambda *given, **more: 1)
    without = run(attack(LEAVES, *FULL))
    assert without.blocks > session.blocks
    assert "CH-FEE" in " ".join(violation.text for violation in without.violations)


def test_decks_are_prepared_for_the_hand_and_for_the_pool() -> None:
    another = Action("prepare", 1, 12)
    session = run(Attack(("five-stud",), "decks", (another,), hands=1))
    assert session.done == (another,)
    assert session.violations == ()
    assert not session.on_chain
