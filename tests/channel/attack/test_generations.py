"""Scripts in generations: what is kept, how it is changed, and that changes lead further."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from msgspec.structs import replace as changed_fields

from channelsim.channel.adversaries.registry import names
from channelsim.channel.attack import boundaries, generations
from channelsim.channel.attack.actions import Action, Attack, Place, check
from channelsim.channel.attack.campaign import Attacks, attacks
from channelsim.channel.attack.drawing import CALM, DISTURBING, SWEEP, SWEPT, draw, swept
from channelsim.channel.attack.generations import (
    GENERATION,
    Discovery,
    GuidedSearch,
    Pool,
    discovery,
    script,
)
from channelsim.channel.attack.kinds import GROUPS, KINDS, LANDMARKS, MESSAGE, kinds_of
from channelsim.channel.attack.sides import scenario_of
from channelsim.channel.attack.world import run
from channelsim.channel.campaign.campaign import here
from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import Times

GAMES = ("spacepoker",)

PARENT = Attack(GAMES, "parent", (Action("crash", 1, 9, 1, 10), Action("drop", 0, 4)))

PLACE = Place(
    0,
    "link",
    {"message": 5, "event": 7, "call": 60, "statement": 12, "block": 2, "file": 1, "deadline": 3},
)

POOL = Pool().adding([Discovery(PARENT, ("here",), (PLACE,))])


def test_a_script_is_kept_for_what_no_script_before_it_reached() -> None:
    known = {"a"}
    first = discovery(PARENT, PARENT.actions[:1], {"a": PLACE, "b": PLACE}, known)
    assert first is not None
    assert (first.situations, first.attack.actions) == (("b",), PARENT.actions[:1])
    assert discovery(PARENT, PARENT.actions, {"a": PLACE, "b": PLACE}, known) is None
    pool = Pool().adding([first, Discovery(PARENT, ("b",)), Discovery(PARENT, ("b", "c"))])
    assert (len(pool.parents), pool.known) == (2, frozenset("bc"))


def test_half_of_a_generation_is_drawn_and_half_changes_what_was_kept() -> None:
    drawn = [script(Pool(), GAMES, "half", number) for number in range(40)]
    guided = [script(POOL, GAMES, "half", number) for number in range(40)]
    new = [draw(GAMES, f"half/{n}", adversaries=swept("half", n)) for n in range(0, 40, 2)]
    assert guided[::2] == drawn[::2] == new
    assert all(one != other for one, other in zip(guided[1::2], drawn[1::2], strict=True))
    assert guided == [script(POOL, GAMES, "half", number) for number in range(40)]


def test_some_sessions_have_nothing_that_ends_on_chain_or_plays_fewer_hands() -> None:
    drawn = [draw(GAMES, f"calm/{number}") for number in range(200)]
    calm = [one for one in drawn if one.actions and not _disturbed(one)]
    assert len(calm) > 200 * CALM // 100
    assert any(_disturbed(one) for one in drawn)
    acting = draw(GAMES, "calm/acting", adversaries=("flooder",))
    assert _disturbed(acting)


def _disturbed(attack: Attack) -> bool:
    kinds = [KINDS[action.kind] for action in attack.actions]
    return any(kind.is_cause or kind.is_hostile or kind.name in DISTURBING for kind in kinds)


def test_every_adversary_has_its_turn() -> None:
    sessions = [swept("turns", SWEEP * number) for number in range(len(names()))]
    first = sessions[: sessions.index(sessions[0], 1)]
    turns = [name for session in first for name in session]
    assert sorted(turns) == sorted(names())
    assert {len(session) for session in first} <= {1, 2, SWEPT}
    assert all(len(one) == 1 for one in first if one[0].startswith("breaks-ch-open"))
    script = draw(GAMES, "turns/0", adversaries=("unfit-proposer", "flooder"))
    acting = [action for action in script.actions if action.name]
    assert {"unfit-proposer", "flooder"} <= {action.name for action in acting}
    assert len({action.side for action in acting}) == 1


def test_children_are_possible_scripts_of_the_kinds_asked_for() -> None:
    kinds = kinds_of("disk,crash,drop")
    for number in range(1, 400, 2):
        child = script(POOL, GAMES, "kinds", number, kinds)
        assert check(child) == child
        assert {action.kind for action in child.actions} <= {*kinds}
    children = [script(POOL, GAMES, "kinds", number) for number in range(1, 400, 2)]
    aimed = [
        action
        for child in children
        for action in child.actions
        if (action.side, action.since) == (PLACE.side, PLACE.since)
        and abs(action.at - PLACE.numbers[KINDS[action.kind].counter]) <= 2
    ]
    assert len(aimed) > 60
    assert {len(child.actions) for child in children} >= {1, 2, 3, 4}
    assert len({child.seed for child in children}) > 10


def test_all_scripts_are_drawn_with_numbers_at_boundaries() -> None:
    scripts = [draw(GAMES, f"edges {number}") for number in range(1500)]
    assert all(check(one) == one for one in scripts)
    blocks = {action.blocks for one in scripts for action in one.actions}
    assert blocks >= {*boundaries.EDGES}
    since = {action.since for one in scripts for action in one.actions}
    assert since == {"", *LANDMARKS}
    pauses = {action.pause for one in scripts for action in one.actions}
    assert pauses >= {*boundaries.SECONDS}


def test_deadlines_are_those_of_attacked_sessions() -> None:
    scenario = scenario_of(PARENT)
    assert scenario.confirmations == boundaries.CONFIRMATIONS
    assert {scenario.unroll_timeout, scenario.game_timeout} <= {*boundaries.DEADLINES.values()}
    assert Times().response in boundaries.DEADLINES.values()
    assert all(
        {wait - 1, wait, wait + 1} <= {*boundaries.EDGES} for wait in boundaries.DEADLINES.values()
    )
    assert all(first < later for first, later in pairwise(boundaries.EDGES))


def test_each_kind_is_in_one_group_and_unknown_names_get_a_hint() -> None:
    assert sorted(kind for kinds in GROUPS.values() for kind in kinds) == sorted(KINDS)
    assert kinds_of("crash,messages,crash") == (*GROUPS["messages"], "crash")
    for wrong in ("diks", "crahs", "", "drop,"):
        with pytest.raises(UsageError):
            kinds_of(wrong)
    with pytest.raises(UsageError, match="disk"):
        kinds_of("diks")


def test_an_action_counts_from_the_newest_landmark_and_lasts_for_blocks() -> None:
    with bls.remembered():
        first = Action("reset", 0, 0, since="link")
        second = Action("reset", 0, 1, since="link", blocks=5)
        session = run(Attack(GAMES, "landmark", (first, second)))
        calm = run(Attack(GAMES, "landmark"))
    assert session.done == (first, second)
    assert session.violations == ()
    # No connection for five blocks.
    assert session.blocks >= calm.blocks + 4
    events = [line.partition(" ")[2] for line in session.log]
    at = [events.index(f"action {action.text}") for action in session.done]
    blocks = [number for number, event in enumerate(events) if event.startswith("block ")]
    assert sum(number < at[0] for number in blocks) <= sum(number < at[1] for number in blocks)


def test_a_place_says_where_a_situation_began() -> None:
    """A message that is dropped there is the one that led out of it."""
    with bls.remembered():
        calm = run(Attack(GAMES, "place"))
        name, place = next(
            (name, place)
            for name, place in calm.situations.items()
            if name.startswith("PLAYING") and place.numbers[MESSAGE] > 0
        )
        action = place.action(Action("delay", 0, 0, pause=9))
        session = run(Attack(GAMES, "place", (action,)))
    assert session.done == (action,)
    assert name in session.situations
    assert {*session.situations} - {*calm.situations}


def test_a_generation_depends_on_those_before_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "GENERATION", 4)
    search = GuidedSearch(GAMES, "alone")
    first = [search.next() for _ in range(4)]
    search.learn(first[0], PARENT.actions, {"somewhere": PLACE})
    assert first == [script(Pool(), GAMES, "alone", number) for number in range(4)]
    pool = Pool().adding(
        [Discovery(changed_fields(first[0], actions=PARENT.actions), ("x",), (PLACE,))]
    )
    assert [search.next() for _ in range(4)] == [
        script(pool, GAMES, "alone", number) for number in range(4, 8)
    ]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Attacks]:
    """A campaign of short sessions, in generations of ten."""
    monkeypatch.setattr("channelsim.channel.attack.campaign.GENERATION", 10)
    return lambda runs, **given: attacks(runs, "short", GAMES, kinds_of("connection"), **given)


@pytest.mark.long
def test_a_campaign_learns_from_its_generations_and_ends_with_its_time(
    short: Callable[..., Attacks],
) -> None:
    campaign = short(12, fast=True)
    report = campaign.run(here(campaign))
    assert report.totals.counts["sessions"] == 12
    assert report.totals.broken == []
    assert report.scripts > 5
    assert report.digest is not None
    timed = short(10_000, seconds=0.5, fast=True)
    ended = timed.run(here(timed))
    assert ended.stopped
    assert ended.digest is None
    assert 0 < ended.totals.counts["sessions"] < 100
    assert GENERATION == 100
