"""Honest peers that are restored from older copies of their stores sign nothing twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import OldCopy
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.promises.old_copies import restored
from channelsim.channel.simulation.scenario import WEATHERS, Scenario
from channelsim.channel.simulation.sweep import menus
from tests.channel.command import channelsim


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    with bls.remembered():
        yield


def harmless(scenario: Scenario) -> tuple[bool, bool]:
    """Run it: whether the copy lacked a state, and whether the peer was told so."""
    run = Arena(scenario).run()
    assert check(run) == [], scenario
    told = any(isinstance(report, OldCopy) for report in run.parties[scenario.honest].news)
    return restored(run) is not None, told


@pytest.mark.parametrize("adversary", ["", "stale-oldest", "silent"])
def test_an_old_copy_loses_nothing_that_the_close_pays(adversary: str) -> None:
    results = [
        harmless(Scenario(("calpoker",), f"old {n}", adversary, 9, n % 2, old_copy=8 + n))
        for n in range(3)
    ]
    assert any(lacked for lacked, _ in results)
    assert any(told for _, told in results) or adversary == "silent"


@pytest.mark.long
@pytest.mark.parametrize("hostile", [False, True])
def test_many_old_copies_lose_nothing_that_the_close_pays(hostile: bool) -> None:
    games, told = menus(), 0
    for n in range(68):
        scenario = replace(
            games[n % len(games)],
            seed=f"old copies {n}",
            old_copy=4 + n % 16,
            side=n // 3 % 2,
            weather=WEATHERS[n // 2 % len(WEATHERS)],
            adversary=names()[(7 * n) % len(names())] if hostile else "",
            step=5 * n % 14,
        )
        told += harmless(scenario)[1]
    assert told > 6


def test_the_command_restores_an_old_copy_and_says_what_came_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = ("dispute", "run", "--seed", "a14")
    ran = channelsim(capsys, *run, "--old-copy", 14, "--json")
    assert ran.code == 0, ran.err
    assert "OldCopy" in json.loads(ran.out)["news"]
    apart = channelsim(capsys, *run, "--old-copy", 14, "--processes", "--json")
    assert (apart.code, apart.out) == (0, ran.out), apart.err
    idle = channelsim(capsys, *run, "--old-copy", 999)
    assert (idle.code, "nothing was checked" in idle.err) == (1, True)
    wrong = channelsim(capsys, *run, "--old-copy", 9, "--at", 3)
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
