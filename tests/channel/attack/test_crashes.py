"""Killed processes: sessions end as they do without kills, and one that does not is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace as changed
from functools import cache

import msgspec
import pytest
from msgspec.structs import replace

from channelsim.channel.attack import sides, world
from channelsim.channel.attack.actions import Action, Attack, check, hostile_side
from channelsim.channel.attack.campaign import broken_by
from channelsim.channel.attack.crashed_run import CrashedRun
from channelsim.channel.attack.crashes import crashes, run_killed
from channelsim.channel.attack.kill_scripts import kill_script
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError
from channelsim.channel.findings.finding import EXCEPTION
from channelsim.channel.peer.interface import Event, Ignored, Received, Tell
from channelsim.channel.peer.machine import TRANSITIONS, Phase
from channelsim.channel.peer.peer_state import Transition
from channelsim.channel.peer.play import play_state
from channelsim.channel.protocol.messages import Funded, Request, decode
from channelsim.channel.session.session_events import Handled
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation.kills import AIMS, LOST, Stage
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.games import registry
from channelsim.games.deck import group
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.channel.attack.killing import Played, played
from tests.channel.campaign.running import done
from tests.sampling import one_in


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    """All runs sign the same; and so a different signature is a different message."""
    with bls.remembered(), group.remembered():
        yield


# --- one kill ------------------------------------------------------------------------------------

EFFECTS = 3
"""Instants of each event: before it is stored, after its effects, and before the last one."""


CRASH_IN_FUNDING = Action("crash", 0, 6)


def session(game: str, *actions: Action) -> Attack:
    return Attack((game,), "crash", actions, policies=("random", "random"))


@cache
def undisturbed(game: str) -> Played:
    return played(session(game))


def same_end(game: str, *kills: Action) -> None:
    """The session with these kills ends as it does without, over the same batches."""
    without, run = undisturbed(game), played(session(game, *kills))
    assert run.session.violations == ()
    assert run.batches == without.batches, kills
    assert run.paid == without.paid
    assert {*run.session.done} == {*kills}, "each kill took place"


def test_a_completed_bundle_that_is_repeated_before_play_is_ignored() -> None:
    script = session("spacepoker", Action("deviate", 1, 0, name="deck-flood"), CRASH_IN_FUNDING)
    ended = world.run(script)
    assert ended.done == script.actions
    assert ended.violations == ()
    bundles = [
        noted.what.effects
        for noted in ended.events
        if isinstance(noted.what, Handled) and noted.side == 0 and _is_bundle(noted.what.event)
    ]
    assert [effect.news for effect in bundles[-1] if isinstance(effect, Tell)] == [
        Ignored("a repeat of the last message")
    ]
    assert len(bundles) == 2


def _is_bundle(event: Event | None) -> bool:
    return isinstance(event, Received) and isinstance(decode(event.message), Funded)


@pytest.mark.parametrize(("side", "at", "amount"), [(0, 7, 0), (1, 16, 1), (0, 22, 2), (1, 28, 1)])
def test_a_session_with_one_kill_ends_as_it_does_without(side: int, at: int, amount: int) -> None:
    same_end("calpoker", Action("crash", side, at, amount))


@pytest.mark.long
@pytest.mark.parametrize("amount", range(EFFECTS))
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("game", ["spacepoker", "calpoker"])
def test_a_session_with_one_kill_at_any_instant_ends_as_it_does_without(
    game: str, side: int, amount: int
) -> None:
    last = {"spacepoker": 44, "calpoker": 31}[game]
    for at in range(last):
        same_end(game, Action("crash", side, at, amount))


@pytest.mark.parametrize("amount", one_in(2, range(EFFECTS)), ids=("lost", "after", "amid"))
def test_a_session_with_many_kills_ends_as_it_does_without(amount: int) -> None:
    """Both peers are killed at every eighth event.

    A new connection is several events, so more kills would leave no time to play.
    """
    kills = (Action("crash", side, at, amount) for at in range(2, 34, 8) for side in (0, 1))
    same_end("spacepoker", *kills)


DISPUTES = {
    "leaver": ("calpoker", 6, ()),
    "silent": ("spacepoker", 9, ()),
    "stale-previous": ("spacepoker", 9, (Action("reorganise", 0, 3, 4, since="chain"),)),
}
"""Adversaries, each with a game, the message at which it begins to deviate, and what else."""


def dispute(name: str, kill: Action) -> CrashedRun:
    game, step, others = DISPUTES[name]
    deviation = Action("deviate", 1, step, name=name)
    return run_killed(Attack((game,), "crash", (deviation, kill, *others)))


@pytest.mark.parametrize("name", DISPUTES)
def test_a_dispute_with_a_kill_breaks_no_promise(name: str) -> None:
    run = dispute(name, Action("crash", 0, 30, 1))
    assert len(run.kills[0]) == 1
    assert not run.failed, run.details


@pytest.mark.long
@pytest.mark.parametrize("amount", range(EFFECTS))
@pytest.mark.parametrize("name", DISPUTES)
def test_a_dispute_with_a_kill_at_any_instant_breaks_no_promise(name: str, amount: int) -> None:
    for at in range(80):
        run = dispute(name, Action("crash", 0, at, amount))
        assert not run.failed, run.details


# --- prepared decks ------------------------------------------------------------------------------


def dealt(side: int, at: int, amount: int, hands: int = 3) -> Attack:
    """A session in which each hand has a deck that both peers prepare."""
    return Attack(("five-stud",), "hands", (Action("crash", side, at, amount),), hands=hands)


@pytest.mark.long
@pytest.mark.usefixtures("few_rounds")
def test_all_hands_are_played_though_a_side_is_killed() -> None:
    run = run_killed(dealt(0, 14, 1, hands=2))
    assert [kill.stage for kill in run.kills[0]] == [Stage.DECK_STEP]
    assert not run.failed, run.details


@pytest.mark.long
@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize("amount", range(EFFECTS))
@pytest.mark.parametrize("side", [0, 1])
def test_all_hands_are_played_though_a_side_is_killed_at_any_instant(
    side: int, amount: int
) -> None:
    for at in range(70):
        run = run_killed(dealt(side, at, amount))
        assert not run.failed, run.details


@pytest.mark.long
@pytest.mark.usefixtures("few_rounds")
def test_a_player_that_takes_a_lost_deck_for_a_wish_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The initiator loses a deck whose last step and whose proposal are on their way."""
    monkeypatch.setattr(play_state, "LOST_DECK", ())
    kills = [dealt(0, at, amount) for at in range(70) for amount in range(EFFECTS)]
    assert any("hands" in broken_by(attack) for attack in kills)


def test_players_that_count_wrongly_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def shorter(scenario: Scenario) -> Setup:
        return setup_of(changed(scenario, hands=scenario.hands - 1))

    monkeypatch.setattr(sides, "setup_of", shorter)
    assert "hands" in broken_by(session("spacepoker"))


# --- drawn scripts -------------------------------------------------------------------------------


def test_scripts_differ_and_are_possible() -> None:
    drawn = [kill_script("x", count, AIMS[count % len(AIMS)], 6) for count in range(60)]
    for attack in drawn:
        check(attack)
        hostile = hostile_side(attack.actions)
        kills = [action for action in attack.actions if action.kind == "crash"]
        assert len(kills) == 6
        assert hostile is None or hostile not in {action.side for action in kills}
    actions = [action for attack in drawn for action in attack.actions]
    assert {action.side for action in actions if action.kind == "crash"} == {0, 1}
    assert len({action.name for action in actions}) > 10
    assert len({action.kind for action in actions}) > 8
    prepared = [attack for attack in drawn[1::5] if registry.get(attack.games[0]).deck_positions]
    assert AIMS[1] is Stage.DECK_STEP
    assert len(prepared) == 12, "each one for a step of a deck prepares decks"


@pytest.mark.long
@pytest.mark.usefixtures("few_rounds")
def test_kills_reach_every_stage() -> None:
    totals = done(crashes(25, "stages-3"), 1)
    assert totals.failed == []
    assert sum(totals.stages.values()) == totals.kills == 25
    assert min(totals.stages[stage] for stage in AIMS) >= 2, totals.stages


@pytest.mark.usefixtures("few_rounds")
def test_kills_where_few_blocks_carry_transactions() -> None:
    totals = done(crashes(3, "few kills", mixed=True), 1)
    assert totals.kills == 3
    assert totals.failed == []


@pytest.mark.long
@pytest.mark.parametrize("mixed", [False, True])
def test_a_thousand_kills(*, mixed: bool) -> None:
    totals = done(crashes(500, "long", mixed=mixed), 2)
    assert totals.kills == 500
    assert [run.details for run in totals.failed] == []


# --- planted faults ------------------------------------------------------------------------------


def test_a_store_that_forgets_its_last_event_is_noticed_by_a_script_with_a_kill() -> None:
    (fault,) = (fault for fault in faults() if fault.name == "one-event-behind")
    with ExitStack() as stack:
        fault.plant(stack, Reach())
        run = run_killed(session("spacepoker", Action("crash", 0, 12, 1), Action("rush", 0, 90)))
    finding = run.findings[0]
    attack = msgspec.convert(finding.scenario, Attack)
    assert attack.actions == (), "it is shrunk: a restart is tried without a crash, too"
    assert finding.place == attack.text
    assert finding.rule not in broken_by(attack), "it is right without the fault"


def test_a_peer_that_fails_to_handle_a_message_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on chain and loses nothing, but an honest side must not fail."""

    def fail(*given: object) -> Transition:
        raise InvariantError("planted")

    monkeypatch.setitem(TRANSITIONS[Phase.PLAYING], Request, fail)
    run = run_killed(session("spacepoker"))
    assert any("InvariantError: planted" in line for line in run.details)


def test_a_session_that_cannot_be_run_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scenario: Scenario) -> Setup:
        raise ValueError("planted")

    monkeypatch.setattr(world, "setup_of", fail)
    run = run_killed(replace(session("spacepoker"), actions=(Action("crash", 0, 9),)))
    (finding,) = run.findings
    assert (finding.rule, finding.severity, run.kills) == (EXCEPTION, EXCEPTION, ((), ()))
    assert finding.text == "ValueError: planted"


def test_an_instant_says_what_was_lost() -> None:
    run = run_killed(session("spacepoker", Action("crash", 0, 7, 0), Action("crash", 1, 20, 2)))
    (before,), (amid,) = run.kills
    assert (before.event, before.effects, before.stage) == (7, LOST, Stage.OPENING)
    assert (amid.event, amid.stage) == (20, Stage.BATCH)
    assert amid.effects >= 0
