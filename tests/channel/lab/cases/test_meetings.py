"""Every class of hands meets every other, and a program that takes one for another is caught."""

from __future__ import annotations

from itertools import chain

import pytest

from channelsim.channel.lab.cases.duels import TIMES, Meetings, meeting
from channelsim.channel.lab.cases.mutator import SELECTIONS
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.sites.deals import deals_at
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Call, Site, recommitted
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games import registry
from channelsim.games.contract import Slash, Valid
from channelsim.games.spacepoker import validators as spacepoker

TARGET = of_game(registry.get("spacepoker"))

STRAIGHT, FULL_HOUSE = (3, 3), (3, 2)


def deals(count: int) -> list[Site]:
    """This many showdowns, at the ends of a few hands."""
    chance, found = FastChance(b"deals"), list[Site]()
    for turn in chain.from_iterable(hands(TARGET, b"deals")):
        if turn.before.validator != "end":
            continue
        site = site_of(TARGET, turn)
        made = (recommitted(TARGET, site, chance, fresh=True) for _ in range(100))
        found += [other for other in made if other is not None]
        if len(found) >= count:
            return found
    raise AssertionError("hands never end")


@pytest.mark.long
def test_a_straight_meets_a_full_house_and_a_mutant_that_mixes_them_up_dies() -> None:
    (mutant,) = (
        one
        for one in all_mutants(TARGET, "end")
        if (one.function, one.kind, one.old, one.new) == ("value_of_groups", "constant", "3", "2")
        and one.within.startswith("(list 3 3")
    )
    meetings, calls = Meetings(TARGET), list[tuple[Site, Call]]()
    for site in deals(3000):
        calls += [(site, call) for call in meetings.calls(site)]
    met = {(mine, theirs) for mine, theirs, _ in meetings.counts}
    assert {(STRAIGHT, FULL_HOUSE), (FULL_HOUSE, STRAIGHT), (STRAIGHT, STRAIGHT)} <= met
    assert max(meetings.counts.values()) == TIMES
    ends = set()
    verdicts = []
    for site, (move, share, evidence) in calls:
        environment = site.environment(move, share, evidence)
        said = [run_serialized(one, environment) for one in (original(), mutant.program)]
        ends.add(type(said[0]) is type(said[1]))
        verdict = site.rules_say(TARGET, move, share, evidence)
        verdicts.append(type(verdict))
        assert isinstance(said[0], ProgramValid if isinstance(verdict, Valid) else ProgramSlash)
    assert ends == {True, False}
    assert set(verdicts) == {Valid, Slash}
    assert len(calls) < 1500  # a few for each meeting, however many deals


def test_two_hands_meet_in_the_kickers_and_in_the_rest_behind_them() -> None:
    quads = ((4, 1), (0, 9, 3)), ((4, 1), (0, 9, 14))
    assert list(meeting(*quads)) == [((4, 1), (4, 1), (3, -1, 0)), ((4, 1), (4, 1), (3, 3, 14, 0))]
    # One difference, and a second one that points the other way, are two meetings.
    pairs = ((2, 1, 1, 1), (0, 9, 14, 5)), ((2, 1, 1, 1), (0, 9, 13, 7))
    assert [how for _, _, how in meeting(*pairs)] == [(3, 1, -1), (3, 14, 13, -1)]


def test_rare_meetings_are_tried_first_and_with_the_best_hand_of_the_waiter() -> None:
    """Pairs come with all their kickers in time, but at first those classes that seldom meet."""
    meetings, places = Meetings(TARGET), deals(600)
    tried = [len(list(meetings.calls(site))) for site in places]
    assert sum(tried[:100]) > sum(tried[-100:]) > 0
    with_best = 0
    for site in places:
        state, move = site.before.state, site.play.move
        assert state is not None
        keys = {key for key in meetings.counts if key[:2] == (STRAIGHT, STRAIGHT)}
        pair = meetings.with_best(site, state, move, keys)
        if pair is not None:
            with_best += 1
            shown = move[:-1] + pair.move
            ranks = spacepoker.showdown(state, shown, pair.evidence)
            others = [spacepoker.showdown(state, shown, other) for other in SELECTIONS]
            assert ranks is not None
            assert {ranks[0][0], ranks[1][0]} == {STRAIGHT}
            assert ranks[1] == max(other[1] for other in others if other is not None)
    assert 0 < with_best < len(places) / 4


def test_deals_are_those_of_places_with_another_secret() -> None:
    site, chance = deals(1)[0], FastChance(b"deal")
    drawn = deals_at(TARGET, site)
    assert drawn is not None
    for deal in drawn.draw(chance, 20):
        place = drawn.place(deal)
        assert place is not None
        assert (place.before.state, place.state, place.play.move) == (
            deal.state,
            deal.value,
            deal.move,
        )
        assert type(place.rules_say(TARGET, *place_call(place))) is not Slash
    first = site_of(TARGET, next(hands(TARGET, b"deals"))[0])
    assert deals_at(TARGET, first) is None  # the first move opens nothing


def place_call(place: Site) -> Call:
    """The move with a share that no rule refuses, and with a selection as evidence."""
    return place.play.move, place.amount, bytes([0b11111])


def original() -> bytes:
    return TARGET.programs["end"].serialized


def test_nothing_meets_where_no_hands_are_compared() -> None:
    meetings = Meetings(TARGET)
    turn = next(hands(TARGET, b"deals"))[0]
    assert not meetings.at(site_of(TARGET, turn))
    assert list(meetings.calls(site_of(TARGET, turn))) == []
