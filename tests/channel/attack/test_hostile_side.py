"""Attacked sessions with a hostile side: it deviates, and the honest side gets its due."""

from __future__ import annotations

import pytest

from channelsim.channel.attack.actions import Action, Attack, check, hostile_side, possible
from channelsim.channel.attack.campaign import answers_of
from channelsim.channel.attack.drawing import adversaries_in, draw
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.world import run
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.onchain import scan
from channelsim.channel.protocol.half_signed import time_out
from tests.sampling import one_in

GAMES = ("spacepoker", "calpoker")


def attacked(*actions: Action, seed: str = "hostile 2") -> Session:
    return run(Attack(("spacepoker",), seed, actions))


def deviation(name: str, at: int = 8, side: int = 1) -> Action:
    return Action("deviate", side, at, name=name)


@pytest.mark.parametrize(
    "name",
    one_in(
        2,
        [
            *("stale-oldest", "rewinder", "self-preempter", "late-mover", "pinner", "resurrector"),
            *("cuts-connections", "plays-old-copy", "garbler", "bouncer", "madman", "chameleon"),
        ],
    ),
)
def test_an_adversary_of_today_deviates_in_a_whole_session(name: str) -> None:
    session = attacked(deviation(name))
    assert session.done == (deviation(name),)
    assert session.violations == ()


@pytest.mark.parametrize("name", ["pinner", "garbler", "chameleon"])
def test_a_session_with_an_adversary_is_the_same_again(name: str) -> None:
    assert attacked(deviation(name)).digest == attacked(deviation(name)).digest


@pytest.mark.parametrize("rule", ["CH-MOVE-4", "CH-BATCH-2", "CH-OPEN-8", "CH-SHUT-3"])
def test_a_side_that_breaks_a_rule_is_answered_by_that_rule(rule: str) -> None:
    action = deviation(f"breaks-{rule.lower()}", at=0)
    session = attacked(action)
    assert session.done == (action,)
    assert answers_of(session) == [rule]
    assert answers_of(attacked(deviation("madman"))) == []


def test_a_final_shutdown_that_is_taken_back_is_published_again() -> None:
    """The honest process has ended by then, and its user starts it once more."""
    session = run(Attack(("spacepoker",), "each", (deviation("undoes-shutdown", 0, 0),)))
    assert session.done
    assert session.violations == ()
    assert session.lives == (1, 2)


def test_a_side_without_money_for_a_hand_cannot_accept_it() -> None:
    """Its counterparty proposes games out of turn, while the stakes of a hand are out."""
    asks = [Action("propose", 0, event) for event in range(10, 24, 2)]
    actions = (deviation("breaks-ch-accept-3", 4), *asks)
    session = run(Attack(("spacepoker",), "each", actions, tight=True))
    assert session.violations == ()
    assert answers_of(session) == ["CH-ACCEPT-3"]


def test_several_deviations_of_one_side_all_take_place() -> None:
    actions = (deviation("flooder", 9), deviation("greedy-share", 10), deviation("stale-any", 12))
    session = attacked(*actions)
    assert {*session.done} == {*actions}
    assert session.violations == ()


@pytest.mark.parametrize("kind", one_in(2, ["alter", "say", "spend"]))
def test_drawn_deviations_take_place_and_break_no_promise(kind: str) -> None:
    sessions = [run(draw(GAMES, f"{kind} {number}", (kind,))) for number in range(6)]
    assert [session.violations for session in sessions] == [()] * 6
    assert {action.kind for session in sessions for action in session.done} == {kind}


def test_only_one_side_is_hostile_and_it_never_restarts() -> None:
    first, other = deviation("silent"), deviation("silent", side=0)
    crashes = Action("crash", 1, 9), Action("crash", 0, 9)
    assert hostile_side((crashes[0], first, other)) == 1
    assert possible((crashes[0], crashes[1], first, other)) == (crashes[1], first)
    assert possible(crashes) == crashes


def test_an_adversary_is_named_where_one_acts_and_nowhere_else() -> None:
    check(Attack(GAMES, "x", (deviation("silent"),)))
    with pytest.raises(UsageError, match="did you mean"):
        check(Attack(GAMES, "x", (deviation("silnt"),)))
    with pytest.raises(UsageError, match="has no name"):
        check(Attack(GAMES, "x", (Action("drop", 0, 1, name="silent"),)))
    assert "hides-wrong" not in adversaries_in("spacepoker")


def test_a_stale_state_that_nobody_preempts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        scan, "preempt", lambda channel, keys, newest, stale: time_out(channel, stale)
    )
    violations = attacked(deviation("stale-oldest")).violations
    assert {violation.monitor for violation in violations} == {"promise"}


@pytest.mark.parametrize("rule", ["CH-OPEN-1", "CH-OPEN-5", "CH-MSG-3"])
def test_the_first_message_of_the_initiator_is_changed_on_the_connection_that_has_it(
    rule: str,
) -> None:
    """A message from before the connection is lost, and is no deviation."""
    action = Action("deviate", 0, 0, name=f"breaks-{rule.lower()}")
    with fast_signatures():
        session = run(Attack(("spacepoker",), "first", (action,), hands=1))
    assert session.done == (action,)
    assert (session.accused, session.funded, session.violations) == (rule, False, ())
