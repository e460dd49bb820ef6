"""The adversary that hides what the rules forbid: it is slashed where the program sees it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.attack.dispute_sweep import everywhere
from channelsim.channel.crypto import bls
from channelsim.channel.peer.chain_news import GamePaid
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.run import Run, RunResult, result_of
from channelsim.channel.simulation.scenario import Scenario, adversaries_for
from channelsim.channel.simulation.sweep import beginnings, menus
from channelsim.clsp.compiler import compile_programs
from channelsim.games import registry
from channelsim.games.contract import Game
from tests.channel.command import channelsim
from tests.channel.scenarios import dispute
from tests.games import dots
from tests.installed import install, run
from tests.paths import ROOT
from tests.sampling import one_in

NAME = "hides-wrong"


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    with bls.remembered():
        yield


def hides(
    game: Game = dots.GAME, side: int = 1, step: int = 0, weather: str = "calm"
) -> tuple[Run, list[str]]:
    """A few hands of the game against the adversary, which is Alice in some of them.

    Also the promises that the honest side broke.
    """
    scenario = Scenario((game.name,), f"lies, {weather}", NAME, step, side, weather, hands=5)
    with dots.registered(game):
        done = dispute(scenario)
        return done.run, [promise.promise for promise in done.broken]


@pytest.mark.parametrize("side", [0, 1])
def test_a_board_that_the_rules_forbid_is_slashed_when_it_is_shown(side: int) -> None:
    lies = set()
    for step in (0, 1, 2, 900):
        done, broken = hides(side=side, step=step)
        assert (broken, result_of(done)) == ([], RunResult.SLASHED)
        paid = [news for news in done.parties[1 - side].news if isinstance(news, GamePaid)]
        assert [news.slashed for news in paid] == ["us"]
        lies.add(done.parties[side].peer.config.lies)
    assert len(lies) == 4


@pytest.mark.parametrize("weather", one_in(2, WEATHERS))
def test_every_promise_is_kept_in_any_weather(weather: str) -> None:
    done, broken = hides(weather=weather)
    assert done.deviated
    assert broken == []


def test_a_program_that_takes_any_board_breaks_a_promise(tmp_path: Path) -> None:
    """The planted mistake: the rules forbid the board, and the program does not look at it."""
    sources = tmp_path / "dots"
    shutil.copytree(Path(dots.__file__).parent, sources)
    source = sources / "show.clsp"
    lines = source.read_text().splitlines()
    source.write_text("\n".join(line for line in lines if "DOTS-SHOW-2" not in line))
    wrong = replace(dots.GAME, programs=compile_programs(sources, dots.VALIDATORS))
    done, broken = hides(wrong)
    assert (broken, result_of(done)) == (["law"], RunResult.CLOSED)


def test_a_lie_that_no_move_can_show_ends_in_a_settlement() -> None:
    """The board is too long for the referee, so its player gives up instead."""
    long = replace(dots.GAME.hidden[0], possible=lambda chance, board: board + bytes(1))
    done, broken = hides(replace(dots.GAME, hidden=(long,)))
    assert done.deviated
    assert (broken, result_of(done)) == ([], RunResult.CLOSED)


def test_a_game_that_hides_nothing_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command in (
        ("dispute", "run", NAME, "--game", "calpoker"),
        ("dispute", "run", f"{NAME}@3", "--game", "calpoker,spacepoker"),
        ("play", "calpoker", "--adversary", NAME),
    ):
        ran = channelsim(capsys, *command)
        assert (ran.code, ran.out) == (2, "")
        assert len(ran.err.splitlines()) == 1
        assert "hidden" in ran.err


def test_a_sweep_leaves_it_out_where_nothing_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(everywhere(Scenario(("calpoker",), "lies", NAME))) == []
    tried = {scenario.adversary for scenario in beginnings("lies", 0)}
    assert tried == {"", *names()} - {NAME}
    with dots.registered():
        parts = list(everywhere(Scenario(("dots",), "lies", NAME, side=0, hands=2), 1))
        assert len(parts) > 2
        assert not any(part.idle or part.found for part in parts)
        games = (registry.get("calpoker"), registry.get("spacepoker"), dots.GAME)
        monkeypatch.setattr(registry, "channel_games", lambda: games)
        for number in range(4):
            begun = {scenario.adversary: scenario for scenario in beginnings("lies", number)}
            assert begun[NAME].games == ("dots",)
            able = adversaries_for(menu.games for menu in menus())
            assert set(begun) == {"", *able}
            assert NAME in able


@pytest.mark.long
def test_it_hides_a_wrong_board_in_a_process_of_its_own_too(tmp_path: Path) -> None:
    install(tmp_path, "channelsim-dots", {"games": ["dots = tests.games.dots:GAME"]})
    command = ["dispute", "run", NAME, "--game", "dots", "--hands", "2", "--seed", "10", "--json"]
    here, apart = run((tmp_path, ROOT), [command, [*command, "--processes"]])
    assert (here.code, here.err) == (0, "")
    assert (apart.code, apart.err) == (0, "")
    for document in map(json.loads, (here.out, apart.out)):
        assert document["deviated"]
        assert "GamePaid" in document["news"]
