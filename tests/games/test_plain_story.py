"""What a person reads and writes of a game that has no story or reader of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from channelsim.games.contract import (
    Action,
    Amount,
    Choice,
    Hand,
    OneOf,
    Plain,
    Step,
    read_verb,
)
from channelsim.games.errors import IllegalAction
from channelsim.games.players import Seat
from channelsim.games.story import PlainStory

SHOOT = OneOf("shoot", tuple(range(16)), "a cell from 0 to 15")
BET = Amount("bet", 0, 900, unit=100)


@dataclass
class Chooser:
    """A player that has these choices."""

    offered: tuple[Choice, ...]

    def choices(self) -> tuple[Choice, ...]:
        return self.offered


def player(*choices: Choice) -> Any:
    return Chooser(choices)


@pytest.mark.parametrize(
    ("choices", "action", "text"),
    [
        ((SHOOT,), Action("shoot", 0), "Alice: shoot 0"),
        ((Plain("pass"), SHOOT), Action("shoot", 6), "Alice: shoot 6"),
        ((BET,), Action("bet", 0), "Alice: bet 0 units (0 mojos)"),
        ((BET,), Action("bet", 250), "Alice: bet 2.5 units (250 mojos)"),
        ((Plain("pass"), SHOOT), Action("pass"), "Alice: pass"),
    ],
)
def test_a_step_has_its_number_also_0(
    choices: tuple[Choice, ...], action: Action, text: str
) -> None:
    both = (player(*choices), player())
    step = Step(Seat.ALICE, action, cast(Any, None), cast(Any, None), both, both)
    (line,) = PlainStory().step(Hand(cast(Any, None), ("Alice", "Bob"), (step,)), None)
    assert "".join(part for part, _ in line) == text


@pytest.mark.parametrize(
    ("choices", "text", "action"),
    [
        ((SHOOT,), "3", Action("shoot", 3)),
        ((SHOOT, Plain("pass")), " 0 ", Action("shoot", 0)),
        ((BET, Plain("pass")), "2.5", Action("bet", 250)),
        ((BET,), "250m", Action("bet", 250)),
    ],
)
def test_a_number_alone_is_enough_for_one_choice(
    choices: tuple[Choice, ...], text: str, action: Action
) -> None:
    assert read_verb(player(*choices), text) == action


@pytest.mark.parametrize(
    ("choices", "text", "reason"),
    [
        ((SHOOT,), "16", "shoot takes a cell from 0 to 15"),
        ((SHOOT, BET), "3", "cannot 3 now"),
        ((Plain("pass"),), "3", "cannot 3 now"),
    ],
)
def test_a_number_that_names_nothing_is_refused(
    choices: tuple[Choice, ...], text: str, reason: str
) -> None:
    with pytest.raises(IllegalAction, match=reason):
        read_verb(player(*choices), text)
