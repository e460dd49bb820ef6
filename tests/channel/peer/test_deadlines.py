"""Deadlines of the other side: exact to the block, and only for actions that are due."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.deadlines import Awaited, wait
from channelsim.channel.peer.interface import Close, Connected
from channelsim.channel.peer.machine import Phase
from tests.channel.disputes import at_move, farm, with_config
from tests.channel.table import ANN, BEN, Table, broken_off, sit

TIMES = Times(response=4, move=9, margin=2)


def patient(table: Table) -> Table:
    for index in (ANN, BEN):
        agreement = replace(table.ends[index].peer.config.agreement, times=TIMES)
        with_config(table, index, agreement=agreement)
    return table


def blocks_until_broken(table: Table, index: int) -> int:
    """The blocks of silence after which this side breaks off; the first one starts the clock."""
    for blocks in range(60):
        if table.ends[index].peer.phase is Phase.ON_CHAIN:
            return blocks
        farm(table, dead=(1 - index,))
    raise AssertionError("it waits for ever")


def test_a_move_has_to_come_within_the_move_time() -> None:
    table = patient(at_move(16))
    sender = 1 - table.mail[0][0]
    table.mail.clear()
    assert blocks_until_broken(table, sender) == TIMES.move + TIMES.margin + 2
    assert broken_off(table.ends[sender]).blame.rule == "CH-TIME-2"


def test_a_request_has_to_be_answered_within_the_response_time() -> None:
    table = patient(sit().open())
    waits = 1 - table.holder()
    table.propose(waits)
    table.mail.clear()
    assert blocks_until_broken(table, waits) == TIMES.response + TIMES.margin + 2
    assert broken_off(table.ends[waits]).blame.rule == "CH-TIME-1"


def test_a_shutdown_has_to_be_completed_within_the_response_time() -> None:
    table = patient(sit().open())
    asks = table.holder()
    table.command(asks, Close())
    table.mail.clear()
    assert blocks_until_broken(table, asks) == TIMES.response + TIMES.margin + 2
    assert broken_off(table.ends[asks]).blame.rule == "CH-TIME-1"


def test_a_mover_who_gives_the_potato_away_has_to_request_it_back() -> None:
    table = patient(sit().open().propose(ANN))
    table.until(lambda: any(end.turns for end in table.ends))
    table.pump()
    owes = table.ends[0].state.games[0].mover
    other = 1 - owes
    assert table.ends[owes].play.potato
    # Asked for the potato, it gives it, and then does not want it back.
    table.ends[owes].turns.clear()
    table.ask(other)
    assert table.ends[other].play.potato
    assert blocks_until_broken(table, other) == TIMES.response + TIMES.margin + 2
    violation = broken_off(table.ends[other]).blame
    assert violation.rule == "CH-TIME-1"
    assert "gave the potato away" in violation.detail


def test_a_mover_without_the_potato_leaves_when_no_numbers_come() -> None:
    """It cannot ask for the potato on a new connection, and must not wait for ever."""
    table = patient(sit().open().propose(ANN))
    table.until(lambda: any(end.turns for end in table.ends))
    table.pump()
    owes = table.ends[0].state.games[0].mover
    table.ends[owes].turns.clear()
    table.ask(1 - owes)
    peer = table.ends[owes].peer
    assert not peer.play.potato
    peer.handle(Connected())
    assert peer.state.resuming
    assert blocks_until_broken(table, owes) == TIMES.response + TIMES.margin + 2
    assert broken_off(table.ends[owes]).blame.rule == "CH-TIME-1"


def test_no_deadline_runs_when_nothing_is_due() -> None:
    table = patient(sit().open())
    for index in (ANN, BEN):
        for _ in range(40):
            farm(table, dead=(1 - index,))
        assert table.ends[index].peer.phase is Phase.PLAYING


def test_a_wait_starts_anew_with_every_state_and_from_a_lower_height() -> None:
    one, two = Awaited("CH-TIME-2", "a move", 5), Awaited("CH-TIME-2", "a move", 6)
    marks, late = wait({}, [one], 100, TIMES)
    assert (marks, late) == ({one: 100}, None)
    marks, late = wait(marks, [one], 111, TIMES)
    assert late is None
    assert wait(marks, [one], 112, TIMES)[1] is one
    assert wait(marks, [two], 112, TIMES) == ({two: 112}, None)
    # A reorganisation: there is more time, not less.
    assert wait(marks, [one], 90, TIMES) == ({one: 90}, None)


@pytest.mark.parametrize("margin", [0, 3])
def test_the_margin_is_added_to_the_deadline(margin: int) -> None:
    times = Times(response=4, move=9, margin=margin)
    assert Awaited("CH-TIME-1", "an answer", 0).limit(times) == 4 + margin
    assert Awaited("CH-TIME-2", "a move", 0).limit(times) == 9 + margin
