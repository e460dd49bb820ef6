"""Each message of a session is lost once, with its connection: everything settles all the same.

So does a duty of silence: that of an old copy of a store, or of a side that asked for the shutdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import OldCopy
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.weather import Weather
from tests.sampling import one_in


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    with bls.remembered():
        yield


def cut(scenario: Scenario, number: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, int]:
    """Run a scenario that loses its message of this number; and how many were on their way."""
    sent = 0
    breaks = Weather.breaks

    def breaks_once(self: Weather) -> bool:
        nonlocal sent
        sent += 1
        return breaks(self) or sent == number

    with monkeypatch.context() as patch:
        patch.setattr(Weather, "breaks", breaks_once)
        return Arena(scenario).run(), sent


def told(run: Run) -> bool:
    """True if the honest side learned that it runs on an old copy."""
    return any(isinstance(report, OldCopy) for report in run.parties[run.scenario.honest].news)


def with_an_old_copy(scenario: Scenario) -> Scenario:
    """The first of many seeds with which the copy lacks a state, and the peer learns of it."""
    scenarios = (replace(scenario, seed=f"lost {n}", old_copy=8 + n % 8) for n in range(40))
    return next(lossy for lossy in scenarios if told(Arena(lossy).run()))


SIDES = list(product((0, 1), (False, True)))
"""Each side, with and without an old copy."""

# The quick tests take another one of them in each weather, and the long tests all.
CASES = [(weather, *SIDES[(at + n) % 4]) for at, weather in enumerate(WEATHERS) for n in range(4)]


@pytest.mark.parametrize("case", one_in(4, CASES), ids=str)
def test_whatever_message_is_lost_everything_settles(
    case: tuple[str, int, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    weather, side, old = case
    scenario = Scenario(("calpoker",), "lost", side=side, weather=weather)
    scenario = with_an_old_copy(scenario) if old else scenario
    number, sent, stopped = 1, 1, 0
    while number <= sent:
        run, sent = cut(scenario, number, monkeypatch)
        assert check(run) == [], (scenario, number)
        stopped += told(run)
        number += 1
    assert number > 15
    assert (stopped > 2) is old
