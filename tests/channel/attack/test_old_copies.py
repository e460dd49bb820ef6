"""A side of attacked sessions that goes on from an older copy of its files."""

from __future__ import annotations

import pytest

from channelsim.channel.attack import process
from channelsim.channel.attack.actions import Action, Attack, possible
from channelsim.channel.attack.disputes import dispute_script, play
from channelsim.channel.attack.drawing import adversaries_in, draw
from channelsim.channel.attack.goals import reached
from channelsim.channel.attack.kinds import KINDS, OLD_COPY, WEATHERS
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.world import run
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.peer.phases import resuming
from channelsim.channel.simulation import bounds
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import menus

SHOWN, PUBLISHED = "old copy shown", "old copy published"

COPY = Action(OLD_COPY, 0, 20, 8)
KEPT_OPEN = Action("withhold", 1, 0)


def attacked(*actions: Action, seed: str = "old", snapshots: int = 50) -> Session:
    return run(Attack(("calpoker",), seed, actions, snapshots=snapshots))


@pytest.mark.parametrize("snapshots", [3, 50])
def test_a_side_that_forgot_states_is_paid_by_the_close_of_the_other(snapshots: int) -> None:
    session = attacked(COPY, snapshots=snapshots)
    assert session.done == (COPY,)
    assert session.violations == ()
    assert session.on_chain
    assert SHOWN in reached(session)
    assert PUBLISHED not in reached(session)
    assert session.lives == (2, 1)


def test_a_side_may_be_restored_twice_in_a_row() -> None:
    twice = (COPY, Action(OLD_COPY, 0, 22, 12))
    session = attacked(*twice)
    assert session.done == twice
    assert session.violations == ()
    assert session.lives == (3, 1)


def test_recovery_gets_the_money_where_the_other_side_never_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = attacked(COPY, KEPT_OPEN)
    assert session.violations == ()
    assert {SHOWN, PUBLISHED} <= {*reached(session)}
    monkeypatch.setattr(process, "recovery", lambda state: None)
    assert [violation.monitor for violation in attacked(COPY, KEPT_OPEN).violations] == ["settled"]


def test_a_copy_that_goes_on_as_if_it_were_new_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resuming, "outdated", lambda state, signed: (state, []))
    violations = attacked(COPY).violations
    assert "it was shown state" in " ".join(violation.text for violation in violations)


def test_only_one_side_is_restored_and_nothing_is_without_a_copy() -> None:
    """What both have forgotten, nobody can claim."""
    other = Action(OLD_COPY, 1, 20, 8)
    assert possible((COPY, other)) == (COPY,)
    early = Action(OLD_COPY, 0, 2, 1)
    session = attacked(early)
    assert session.done == ()
    assert session.lives == (1, 1)


def test_drawn_copies_break_no_promise() -> None:
    sessions = [run(draw(("calpoker",), f"copies {n}", (OLD_COPY, "crash"))) for n in range(4)]
    assert [session.violations for session in sessions] == [()] * 4
    assert any(SHOWN in reached(session) for session in sessions)


def test_whatever_message_is_lost_an_old_copy_settles() -> None:
    told = 0
    for side, at in ((0, 10), (0, 11), (1, 10), (1, 11)):
        session = attacked(COPY, Action("reset", side, at))
        assert session.violations == (), (side, at)
        told += SHOWN in reached(session)
    assert told > 2


@pytest.mark.long
@pytest.mark.parametrize("hostile", [False, True])
def test_many_old_copies_lose_nothing_that_the_close_pays(hostile: bool) -> None:
    each, told = [menu.games for menu in menus()], 0
    for n in range(68):
        games = each[n % len(each)]
        able = adversaries_in(games[0])
        scenario = Scenario(
            games,
            f"old copies {n}",
            adversary=able[(7 * n) % len(able)] if hostile else "",
            step=5 * n % 14,
            side=n // 3 % 2,
            weather=[*WEATHERS][n // 2 % len(WEATHERS)],
        )
        attack = dispute_script(scenario, 14 + n % 40)
        dispute = play(attack)
        assert dispute.broken == [], attack.text
        told += SHOWN in reached(dispute.session)
    assert told > 6


def test_every_weather_of_a_dispute_is_a_preset_of_kinds() -> None:
    assert {*WEATHERS} == {*bounds.WEATHERS}
    assert {kind for kinds in WEATHERS.values() for kind in kinds} <= {*KINDS}


@pytest.mark.long
def test_a_deck_that_is_prepared_after_a_restart_is_not_kept() -> None:
    """Its player asks for it before there is a connection, and PD-12 is about older ones."""
    actions = (Action("old-copy", 1, 20), Action("prepare", 1, 21))
    with fast_signatures():
        session = run(Attack(("holdem",), "faults/1582", actions, hands=1))
    assert (session.done, session.violations) == (actions, ())
