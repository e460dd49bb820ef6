"""Actions as people write them."""

from __future__ import annotations

import pytest

from channelsim.games.contract import Action, Seat
from channelsim.games.errors import IllegalAction
from tests.games.table import GAME, Table, by_script, sit_down

ALICE_OPENS = "s2"


def after(*actions: str, unit: int = 100) -> Table:
    table = sit_down(ALICE_OPENS, unit=unit).until("begin_round")
    decide = by_script(actions)
    for _ in actions:
        table.step(table.next_action(decide, decide))
    return table


def read(table: Table, text: str) -> Action:
    return GAME.read_action(table.players[table.position.mover], text)


@pytest.mark.parametrize(
    ("before", "text", "action"),
    [
        ([], "check", Action("check")),
        ([], " CHECK ", Action("check")),
        ([], "bet 2", Action("bet", 200)),
        ([], "bet 2.25", Action("bet", 225)),
        ([], "bet 250m", Action("bet", 250)),
        ([], "all-in", Action("bet", 900)),
        ([], "All In", Action("bet", 900)),
        ([], "fold", Action("fold")),
        (["check"], "call", Action("call")),
        (["check"], "check", Action("call")),
        (["check"], "bet 1", Action("raise", 100)),
        (["check"], "raise 1", Action("raise", 100)),
        (["check"], "allin", Action("raise", 900)),
        (["bet 2"], "call", Action("call")),
        (["bet 2"], "raise 7", Action("raise", 700)),
        (["bet 2"], "all-in", Action("raise", 700)),
        (["bet 9"], "all-in", Action("call")),
    ],
)
def test_what_can_be_written(before: list[str], text: str, action: Action) -> None:
    assert read(after(*before), text) == action


@pytest.mark.parametrize(
    ("before", "text", "reason"),
    [
        ([], "", "'' is no action; possible: check, bet 0.01 to 9 units (1 to 900 mojos), fold"),
        ([], "bet 1 2", "is no action; possible"),
        ([], "call", "cannot call now; possible: check, bet"),
        ([], "raise 2", "cannot raise now; possible: check, bet"),
        ([], "bet", "bet needs an amount: bet 0.01 to 9 units (1 to 900 mojos)"),
        (
            [],
            "bet 0",
            "bet 0 units (0 mojos) is out of bounds: bet 0.01 to 9 units (1 to 900 mojos)",
        ),
        ([], "bet 9.01", "bet 9.01 units (901 mojos) is out of bounds"),
        ([], "bet x", "'x' is not an amount: write units (2, 2.5) or mojos (250m)"),
        ([], "bet 0.001", "'0.001' is not a whole number of mojos; a unit is 100"),
        ([], "bet -1", "is not an amount"),
        ([], "check 1", "check takes no amount"),
        (
            ["bet 2"],
            "check",
            "cannot check now; possible: call, raise 0.01 to 7 units (1 to 700 mojos)",
        ),
        (["bet 2"], "bet 2", "cannot bet now"),
        (
            ["bet 2"],
            "raise 8",
            "raise 8 units (800 mojos) is out of bounds: raise 0.01 to 7 units (1 to 700 mojos)",
        ),
        (["bet 9"], "raise 1m", "cannot raise now; possible: call, fold"),
        ([], "x" * 10_000, "cannot xxx"),
    ],
)
def test_what_cannot(before: list[str], text: str, reason: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        read(after(*before), text)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 160


def test_forced_choices_can_be_written_too() -> None:
    table = sit_down(ALICE_OPENS)
    assert read(table, "commit") == Action("commit")
    with pytest.raises(IllegalAction, match="possible: commit"):
        read(table, "all-in")
    with pytest.raises(IllegalAction, match="the other player's turn"):
        GAME.read_action(table.players[Seat.BOB], "check")


def test_units_that_are_no_decimals() -> None:
    table = after(unit=7)
    assert read(table, "bet 7m") == read(table, "bet 1") == Action("bet", 7)
    with pytest.raises(IllegalAction, match=r"bet 1m to 63m \(~0.143 to 9 units\)"):
        read(table, "bet")
    with pytest.raises(IllegalAction, match=r"bet needs an amount: bet 1 to 9 mojos$"):
        read(after(unit=1), "bet")
