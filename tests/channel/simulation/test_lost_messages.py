"""Messages of a session are lost once, with their connection: everything settles all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.disputes import dispute_script, play
from channelsim.channel.attack.kinds import WEATHERS
from channelsim.channel.crypto import bls
from channelsim.channel.simulation.scenario import Scenario
from tests.sampling import one_in


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    with bls.remembered():
        yield


@pytest.mark.parametrize("weather", one_in(9, WEATHERS))
@pytest.mark.parametrize("side", one_in(2, [0, 1]))
def test_whatever_message_is_lost_everything_settles(weather: str, side: int) -> None:
    script = dispute_script(Scenario(("calpoker",), "lost", weather=weather))
    lost = 0
    for at in range(1, 20, 3):
        reset = Action("reset", side, at)
        dispute = play(replace(script, actions=(*script.actions, reset)))
        assert dispute.broken == [], at
        lost += reset in dispute.session.done
    assert lost > 2
