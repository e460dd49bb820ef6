"""Stubborn players come to the borders of a game, and what is refused there is tried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.channel.lab.sites.borders import PATIENCE, Borders
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from channelsim.games.contract import Slash, Valid
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.states import Mid

RAZZ = of_game(registry.get("razz"))


def borders(seed: bytes, hands: int) -> list[tuple[Site, Call]]:
    search = Borders(RAZZ, seed)
    assert search.ready
    found = [(site, call) for _ in range(hands) for site, calls in search.calls() for call in calls]
    assert search.work > 0
    return found


def test_raises_come_to_the_cap_and_one_more_is_tried_there() -> None:
    capped = []
    for site, (move, share, evidence) in borders(b"cap", 100):
        state = site.before.state
        verdict = site.rules_say(RAZZ, move, share, evidence)
        assert isinstance(verdict, Valid | Slash)
        if isinstance(state, Mid) and state.table.structure == Structure.FIXED_LIMIT:
            left = state.table.stake - state.pot.waiter
            if state.raises > state.table.cap and left >= state.streets[0].size:
                capped.append((share == site.play.share, verdict))
    # The share is right, so that only the rule about the amount refuses the raise.
    assert (True, Slash("PK-MID-4")) in capped


def test_a_stake_used_up_is_a_border() -> None:
    states = [site.before.state for site, _ in borders(b"all-in", 40)]
    assert any(isinstance(one, Mid) and one.pot.waiter == one.table.stake for one in states)


def test_the_same_seed_gives_the_same_borders() -> None:
    first, second = borders(b"same", 3), borders(b"same", 3)
    assert [call for _, call in first] == [call for _, call in second]


@pytest.mark.parametrize("name", ["calpoker"])
def test_a_game_without_borders_is_given_up(name: str) -> None:
    search = Borders(of_game(registry.get(name)), b"none")
    for _ in range(PATIENCE):
        assert search.ready
        assert list(search.calls()) == []
    assert not search.ready


def test_without_rules_there_are_no_hands() -> None:
    assert not Borders(replace(RAZZ, rules=None), b"bare").ready
