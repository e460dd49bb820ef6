"""The lab plays a game with hidden values and memories, and finds its programs right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channelsim.channel.lab.crosscheck.crosscheck import crosscheck
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.lies import Liars
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.channel.lab.testing.strategies import legal_moves
from tests.games import dots


@pytest.fixture
def target() -> Iterator[Target]:
    with dots.registered():
        yield of_game(dots.GAME)


def test_hands_end_with_the_cell_that_a_player_remembers(target: Target) -> None:
    stream = hands(target, b"memory")
    lasts = [next(stream)[-1] for _ in range(20)]
    opened = {last.play.move[-1] for last in lasts if last.before.validator == "open"}
    assert opened == set(range(dots.CELLS))


def test_players_remember_in_hands_with_lies(target: Target) -> None:
    liars, opened = Liars(target, FastChance(b"lies")), set[str]()
    for _ in range(40):
        for site in liars.places():
            if site.validator == "open" and site.lie.startswith("Alice"):
                assert site.play.move[-1] in range(dots.CELLS)
                opened.add(site.lie)
    assert len(opened) > 3


def test_rules_and_programs_agree_and_games_end(target: Target) -> None:
    tally = crosscheck(target, 1100, "hidden", 1).tally
    assert tally.findings == []
    assert tally.tried["progress"] > 0


@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_strategies_draw_moves_that_open_a_cell(data: st.DataObject) -> None:
    with dots.registered():
        move = data.draw(legal_moves(of_game(dots.GAME), "open"))
        assert move.move[-1] in range(dots.CELLS)
