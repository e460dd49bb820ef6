"""The specification says what is in every field of every state, by the names of the code."""

from __future__ import annotations

import re

import pytest

from channelsim.games.calpoker import states as calpoker
from channelsim.games.poker import states as poker
from channelsim.games.spacepoker import states as spacepoker
from channelsim.games.states import PlainState
from tests.paths import ROOT

SPEC = ROOT / "docs/spec"

ROW = re.compile(r"\| (\w+) \| `(\w+)` \| (.+) \|")

RECORDS = (
    *(poker.Lock, poker.Table, poker.Showdown, poker.Street, poker.Pot, poker.Seats),
    *(poker.Known, poker.Owed, poker.Deal, poker.Begin, poker.Mid, poker.Draw, poker.Show),
    *(poker.End, poker.Commit, poker.Rows, poker.Score),
)
"""In the order of the specification."""

NAMES = {"street": "N", "alices_image": "a5"}
"""Names of the specification for fields of Space Poker."""


def text(name: str) -> str:
    return (SPEC / f"{name}.md").read_text(encoding="utf-8")


def states_of(module: object) -> set[type[PlainState]]:
    return {
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, PlainState) and one is not PlainState
    }


def test_the_table_of_poker_has_every_field_in_its_place() -> None:
    rows = [found.groups() for found in map(ROW.fullmatch, text("poker").splitlines()) if found]
    stated = [(record, field) for record, field, _ in rows]
    assert stated == [
        (record.__name__.lower(), field) for record in RECORDS for field in record.__struct_fields__
    ]
    assert set(RECORDS) == states_of(poker)


def written(record: type[PlainState]) -> str:
    """The fields of a state as the specification writes them."""
    fields = [NAMES.get(field, field) for field in record.__struct_fields__]
    return fields[0] if len(fields) == 1 else f"({' '.join(fields)})"


@pytest.mark.parametrize("record", sorted(states_of(spacepoker), key=str))
def test_the_table_of_space_poker_has_every_field(record: type[PlainState]) -> None:
    name = {"CommitA": "commitA", "CommitB": "commitB", "BeginRound": "begin_round"}
    name |= {"MidRound": "mid_round", "End": "end"}
    assert f"| `{name[record.__name__]}` | {written(record)} |" in text("spacepoker")


@pytest.mark.parametrize("record", [calpoker.StateC, calpoker.StateD, calpoker.StateE])
def test_the_table_of_california_poker_has_every_field(record: type[PlainState]) -> None:
    """The states of `a` and `b` have no names in the text: nothing, and the commitment."""
    assert f"| {written(record)} |" in text("calpoker")
    assert states_of(calpoker) - {calpoker.StateA, calpoker.StateB} == {
        *(calpoker.StateC, calpoker.StateD, calpoker.StateE),
    }
