"""Sessions that loop end, and say so; others do not come near the limits."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from channelsim.channel.attack import world
from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.session import Observer, Session
from channelsim.channel.attack.session_limits import MOST_STEPS
from channelsim.channel.attack.world import run, run_observed
from channelsim.channel.crypto.keyed_hash import fast_signatures
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults

FULL = Attack(
    ("calpoker",),
    "limits",
    (Action("go-on-chain", 0, 20), Action("fill", 0, 1, 11), Action("fill", 0, 13, 11)),
)


def fast(attack: Attack, planted: str = "") -> Session:
    with ExitStack() as stack:
        stack.enter_context(fast_signatures())
        for fault in faults():
            if fault.name == planted:
                fault.plant(stack, Reach())
        return run(attack)


def never_comes_back(event: object) -> None:
    while True:
        pass


def test_a_session_that_never_comes_back_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "MOST_SECONDS", 2.0)
    session, *_ = run_observed(FULL, Observer(on_event=never_comes_back))
    assert "ends: it goes on after 2 s of the processor" in texts(session)


def test_a_session_of_too_many_events_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fast(FULL)
    assert whole.violations == ()
    monkeypatch.setattr(world, "MOST_STEPS", 60)
    first, second = fast(FULL), fast(FULL)
    assert first.digest == second.digest
    assert "ends: it goes on after 60 events and effects" in texts(first)
    assert len(first.events) < len(whole.events) < MOST_STEPS / 10


def test_a_session_that_breaks_more_and_more_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """With each block more fee coins are made, and each block takes longer."""
    monkeypatch.setattr(world, "MOST_VIOLATIONS", 3)
    first, second = (fast(FULL, "splits-without-end") for _ in range(2))
    assert first.digest == second.digest
    assert any(text.startswith("work: ") for text in texts(first))
    assert len(first.violations) < 20


def texts(session: Session) -> list[str]:
    return [f"{violation.monitor}: {violation.text}" for violation in session.violations]
