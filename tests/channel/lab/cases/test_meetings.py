"""Every class of hands meets every other, and a program that takes one for another is caught."""

from __future__ import annotations

from itertools import chain

from channelsim.channel.lab.cases.duels import TIMES, Meetings
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Call, Site, recommitted
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games import registry
from channelsim.games.contract import Slash, Valid

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


def original() -> bytes:
    return TARGET.programs["end"].serialized


def test_nothing_meets_where_no_hands_are_compared() -> None:
    meetings = Meetings(TARGET)
    turn = next(hands(TARGET, b"deals"))[0]
    assert not meetings.at(site_of(TARGET, turn))
    assert list(meetings.calls(site_of(TARGET, turn))) == []
