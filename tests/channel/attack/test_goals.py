"""The ledger of goals: each row is reached by a script, and not by another one."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.goals import GOALS, reached
from channelsim.channel.attack.world import run
from channelsim.channel.crypto import bls
from tests.sampling import one_in

LEAVES = Action("go-on-chain", 0, 20)

SCRIPTS: dict[str, tuple[Action, ...]] = {
    "opening failed": (Action("drop", 0, 0), Action("drop", 0, 1), Action("drop", 0, 2)),
    "unroll undone": (LEAVES, Action("reorganise", 0, 0, 4, since="unroll")),
    "shutdown replaced": (Action("reorganise", 0, 1, 2, since="shutdown"),),
    "killed before a batch": (Action("crash", 0, 20, 6),),
    "killed before the shutdown's completion": (Action("crash", 0, 24, 6),),
    "killed before its half of the shutdown": (Action("crash", 1, 28, 6),),
    "killed before a push": (Action("crash", 1, 29, 6),),
    "killed in its restart": (Action("crash", 0, 12, 1), Action("crash", 0, 0, since="restart")),
    "killed three times": tuple(Action("crash", 1, at, 1) for at in (9, 12, 15)),
    "killed in a dispute": (LEAVES, Action("crash", 1, 1, 1, since="chain")),
    "killed while resuming": (Action("reset", 0, 6), Action("crash", 0, 0, since="link")),
    "disk failed in a dispute": (LEAVES, Action("store-full", 0, 1, since="chain")),
    "both killed in one block": tuple(Action("crash", side, 12, 1) for side in (0, 1)),
    "away to the limit": (Action("reset", 0, 9, blocks=10),),
    "gave up waiting": (Action("crash", 1, 1, 2, since="link", blocks=15),),
    "faults of both sides": (Action("duplicate", 0, 3), Action("node-slow", 1, 9, pause=2)),
}


@cache
def calm_goals() -> list[str]:
    return reached(run(Attack(("spacepoker",), "x", hands=1)))


@pytest.mark.parametrize("goal", one_in(2, SCRIPTS))
def test_a_script_reaches_a_goal_that_a_calm_session_does_not(goal: str) -> None:
    with bls.remembered():
        session = run(Attack(("spacepoker",), "x", SCRIPTS[goal], hands=1))
        assert calm_goals() == ["closed by both"]
    assert session.violations == ()
    assert goal in reached(session)


def test_a_dispute_reaches_the_goals_of_disputes() -> None:
    with bls.remembered():
        goals = reached(run(Attack(("spacepoker",), "x", (LEAVES,), hands=1)))
    assert {"settled on chain", "left for the chain"} <= {*goals}
    assert "closed by both" not in goals


def test_a_fold_that_the_other_side_does_not_get_is_on_chain() -> None:
    """Its player does not move in the game, whose coin is there again."""
    lost, leaves = Action("drop", 1, 0, since="folds"), Action("go-on-chain", 1, 0, since="settled")
    attack = Attack(("spacepoker",), "aim", (lost, leaves), hands=3, policies=("caller", "random"))
    with bls.remembered():
        session = run(attack)
    assert session.done == (lost, leaves)
    assert "fold on chain" in reached(session)
    assert session.violations == ()
    with bls.remembered():
        assert "fold on chain" not in reached(run(replace(attack, actions=(leaves,))))


def test_each_goal_has_an_id_of_its_own_and_a_sentence() -> None:
    assert len({goal.id for goal in GOALS}) == len(GOALS)
    assert all(goal.about and not goal.about.endswith(".") for goal in GOALS)
