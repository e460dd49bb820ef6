"""Each message of a session is lost once, with its connection: everything settles all the same.

So does the duty of silence of a side that asked for the shutdown.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from channelsim.channel.crypto import bls
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


# The quick tests take one side in a third of the weathers, and the long tests both in all.
CASES = [(weather, (at + n) % 2) for at, weather in enumerate(WEATHERS) for n in range(2)]


@pytest.mark.parametrize("case", one_in(6, CASES), ids=str)
def test_whatever_message_is_lost_everything_settles(
    case: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    weather, side = case
    scenario = Scenario(("calpoker",), "lost", side=side, weather=weather)
    number, sent = 1, 1
    while number <= sent:
        run, sent = cut(scenario, number, monkeypatch)
        assert check(run) == [], (scenario, number)
        number += 1
    assert number > 15
