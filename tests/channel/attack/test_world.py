"""Whole sessions in virtual time: two processes with their files, a wire, and one node."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import cache

import pytest

from channelsim.channel.attack import blocks, monitors
from channelsim.channel.attack.actions import Action, Attack, check
from channelsim.channel.attack.drawing import draw
from channelsim.channel.attack.kinds import DEADLINE, EVENT, KINDS, MESSAGE
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.world import run
from channelsim.channel.errors import UsageError
from channelsim.channel.session.side_player import SidePlayer
from tests.paths import ROOT
from tests.sampling import one_in

GAMES = ("spacepoker", "calpoker")


def attacked(*actions: Action, seed: str = "world", **given: object) -> Session:
    return run(Attack(("spacepoker",), seed, actions, **given))  # type: ignore[arg-type]


@cache
def calm_log(*actions: Action) -> tuple[str, ...]:
    return attacked(*actions).log


def test_a_whole_session_runs_in_virtual_time_twice_with_the_same_log() -> None:
    begun = time.process_time()
    first, second = attacked(), attacked()
    assert time.process_time() - begun < first.seconds / 10
    assert first.log == second.log
    assert first.funded
    assert first.violations == ()
    assert first.seconds > 100
    assert attacked(seed="another").digest != first.digest


PROGRAM = """
from channelsim.channel.attack.drawing import draw
from channelsim.channel.attack.world import (run)
print([run(draw(("spacepoker",), f"hash {n}")).digest for n in range(1)])
"""


def test_a_session_does_not_depend_on_the_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("name", one_in(6, KINDS))
def test_each_kind_of_action_takes_place_and_changes_the_session(name: str) -> None:
    """At one place or another: a player cannot always withdraw something, for example."""
    # Of the spends of an opening or a shutdown, the other side pushes the same.
    others = [Action("go-on-chain", 0, 20)] if name.startswith(("push", "solutions")) else []
    kind, calm = KINDS[name], calm_log(*others)
    places = {EVENT: range(8, 28), MESSAGE: range(3, 12), DEADLINE: range(2)}.get(
        kind.counter, range(4, 60, 8)
    )
    for at in places:
        by_name = "flooder" if kind.is_named else ""
        action = Action(name, at % 2, at, min(kind.most, 2), 30 if kind.pauses else 0, by_name)
        session = attacked(*others, action)
        assert {*session.done} == {*others, action}
        assert session.violations == ()
        if [line for line in session.log if action.text not in line] != [*calm]:
            return
    raise AssertionError("no such action changes anything")


def test_a_process_that_dies_comes_back_and_plays_on() -> None:
    """Also right after it has come back, and where its disk fails."""
    crashes = [Action("crash", side, at, 1, 10) for side in (0, 1) for at in (9, 10, 16)]
    session = attacked(*crashes, Action("sync-fails", 0, 30), snapshots=3)
    assert session.violations == ()
    assert session.lives == (5, 4)


def test_sessions_of_drawn_actions_keep_every_promise() -> None:
    sessions = [run(draw(GAMES, f"drawn {number}")) for number in range(6)]
    assert [session.violations for session in sessions] == [()] * 6
    assert any(session.done for session in sessions)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (Action("crahs", 0, 1), "did you mean"),
        (Action("crash", 0, 1, amount=99), "at most"),
        (Action("drop", 0, 1, pause=3), "no pause"),
    ],
)
def test_a_script_with_an_impossible_action_is_refused(action: Action, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check(Attack(("spacepoker",), "x", (action,)))
    assert check(Attack(("spacepoker",), "x", (Action("drop", 0, 1),))).actions


def test_a_session_ends_and_says_so_if_a_side_never_settles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its player wants nothing: neither hands nor the end."""
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 20)
    monkeypatch.setattr(SidePlayer, "next_command", lambda player: None)
    session = attacked()
    assert [violation.monitor for violation in session.violations] == ["settled"] * 2
    assert session.blocks == blocks.HEALS_AT + 20


def test_a_side_that_has_heard_nothing_may_wait_for_ever() -> None:
    session = attacked(*(Action("drop", 0, number) for number in (0, 1, 2, 3)))
    assert session.violations == ()
    assert not session.funded


def test_each_monitor_has_a_sentence() -> None:
    assert all(sentence.endswith(".") for sentence in MONITORS.values())


def test_each_check_of_a_promise_is_made_in_attacked_sessions_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new one is no exception, but for those of promises that other monitors check."""
    planted = [("secrecy", lambda run, talk: ["planted"]), ("hands", lambda run, talk: ["apart"])]
    monkeypatch.setattr(monitors, "CHECKS", planted)
    texts = [violation.text for violation in attacked().violations]
    assert texts == [f"to the {name}: planted" for name in ("initiator", "receiver")]
