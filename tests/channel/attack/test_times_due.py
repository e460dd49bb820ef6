"""The time in which the other side has to answer, as it is counted apart from the peer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.times_due import ANSWERS, MOVES, OwnMarks
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import Blame
from channelsim.channel.peer.interface import BrokenOff, Effect, Tell
from channelsim.channel.peer.peer_state import Phase

TIMES = SimpleNamespace(response=5, move=8, margin=2)
CONFIG: Any = SimpleNamespace(agreement=SimpleNamespace(times=TIMES))


def state(number: int) -> Any:
    play = SimpleNamespace(state=SimpleNamespace(number=number))
    return SimpleNamespace(phase=Phase.PLAYING, opening=SimpleNamespace(step=None), play=play)


def found(marks: OwnMarks, height: int, number: int, rule: str = "") -> list[str]:
    effects: list[Effect] = (
        [Tell(BrokenOff(Blame("the receiver", "play", rule, "late"), number))] if rule else []
    )
    return [*marks.follow(CONFIG, Block(height), state(number), state(number), effects)]


@pytest.mark.parametrize(("rule", "limit"), [(ANSWERS, 7), (MOVES, 10)])
def test_each_answer_has_its_whole_time(rule: str, limit: int) -> None:
    marks = OwnMarks()
    assert found(marks, 1, 4) == found(marks, 20, 5) == []
    (early,) = found(marks, 20 + limit, 5, rule)
    assert f"after {limit} blocks of {limit}" in early
    assert found(marks, 21 + limit, 5, rule) == []


def test_time_goes_on_from_a_lower_height_and_over_a_restart() -> None:
    marks = OwnMarks()
    assert found(marks, 20, 5) == found(marks, 15, 5) == found(marks, 23, 5, ANSWERS) == []
    assert [*marks.follow(CONFIG, None, state(6), state(6), [])] == []
    assert found(marks, 24, 6, ANSWERS) == []
