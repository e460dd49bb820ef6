"""A channel under watch: which data it goes on with, and what its user hears, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.watch.channel_watch import ChannelWatch
from channelsim.channel.watch.pusher import FeeAtMaximum
from channelsim.channel.watch.watch_data import NEWEST, STATES, read_watch_data
from channelsim.channel.watch.watch_lines import notice_text
from channelsim.channel.watch.watcher import Step
from tests.channel.disputes import publish_old, received
from tests.channel.table import ANN, BEN, TIMEOUT
from tests.channel.watch.test_watch import Watched, in_a_hand


def copied(ours: Watched, folder: Path) -> Path:
    shutil.copytree(ours.folder, folder)
    return folder


def play_on(ours: Watched, number: int) -> int:
    """Play until Ann can complete this state, or a later one; its number."""
    table = ours.table
    while table.ends[ANN].play.newest.state.number < number:
        assert table.step()
    return table.ends[ANN].play.newest.state.number


@pytest.mark.parametrize("first", [NEWEST, STATES])
def test_data_that_are_copied_again_are_read_again_in_any_order(tmp_path: Path, first: str) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower, said = copied(ours, tmp_path / "tower"), list[str]()
    watch = ChannelWatch(tower, complain=said.append)
    newest = play_on(ours, watch.data.newest.state.number + 2)
    for name in (first, STATES, NEWEST):
        shutil.copyfile(ours.folder / name, tower / name)
        watch.read_again()
    assert said == []
    assert watch.data == read_watch_data(ours.folder)
    assert watch.data.newest.state.number == newest
    # It also acts by the new data.
    publish_old(ours.table, BEN, stale := received(ours.table, BEN)[1])
    ours.table.chain.farm()
    sight = watch.look(ours.table.chain)
    assert (sight.step, sight.state) == (Step.STALE, stale)
    assert sight.due == (sight.since or 0) + TIMEOUT // 3


def test_a_file_that_is_not_whole_yet_changes_nothing(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower, said = copied(ours, tmp_path / "tower"), list[str]()
    watch, before = ChannelWatch(tower, complain=said.append), read_watch_data(tower)
    for _ in range(2):
        (tower / NEWEST).write_bytes((ours.folder / NEWEST).read_bytes()[:50])
        watch.read_again()
    assert watch.data == before
    (line,) = said
    assert line.endswith(f"going on with state {before.newest.state.number}")
    with pytest.raises(UsageError, match="damaged"):
        ChannelWatch(tower)


@pytest.mark.parametrize("names", [(STATES,), (NEWEST,), (NEWEST, STATES)])
def test_older_data_are_not_taken(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Not even older states beside the newest one: those between them would be unknown."""
    ours = in_a_hand(tmp_path / "watch", messages=12)
    older = copied(ours, tmp_path / "older")
    play_on(ours, 7)
    tower, said = copied(ours, tmp_path / "tower"), list[str]()
    watch, before = ChannelWatch(tower, complain=said.append), read_watch_data(tower)
    for name in names:
        shutil.copyfile(older / name, tower / name)
        watch.read_again()
    assert watch.data == before
    assert len(said) == len(names)
    assert all(line.endswith(": older data than before: going on with both") for line in said)


@pytest.mark.parametrize("names", [(STATES, NEWEST), (NEWEST, STATES)])
def test_a_newer_state_is_taken_though_states_before_it_are_missing(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    """A machine without power can lose lines that were not on its disk."""
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower = copied(ours, tmp_path / "tower")
    watch, before = ChannelWatch(tower), read_watch_data(tower)
    play_on(ours, before.newest.state.number + 2)
    right = read_watch_data(ours.folder)
    lines = (ours.folder / STATES).read_bytes().splitlines(keepends=True)
    (ours.folder / STATES).write_bytes(b"".join(lines[: len(before.states) - 1]))
    for name in names:
        shutil.copyfile(ours.folder / name, tower / name)
        watch.read_again()
    assert watch.data.newest == right.newest
    assert watch.data.states == {**before.states, right.newest.state.number: right.newest.state}


def test_data_of_another_channel_are_not_taken(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower, said = copied(ours, tmp_path / "tower"), list[str]()
    watch, before = ChannelWatch(tower, complain=said.append), read_watch_data(tower)
    other = (tower / STATES).read_bytes().replace(b'"confirmations":', b'"confirmations":1', 1)
    (tower / STATES).write_bytes(other)
    watch.read_again()
    assert watch.data == before
    assert "data of another channel" in said[0]


def test_a_line_comes_with_each_change_and_not_with_each_block(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path, messages=12)
    chain, watch = ours.table.chain, ChannelWatch(tmp_path, 3)

    def line() -> str | None:
        sight = watch.look(chain)
        line = watch.line(sight, watch.push(chain, sight))
        return None if line is None else line.text

    first = line()
    assert first is not None
    assert first.endswith(": the channel is open")
    chain.farm()
    assert line() is None
    number = received(ours.table, BEN)[0]
    publish_old(ours.table, BEN, number)
    chain.farm()
    stale = line()
    assert stale is not None
    assert stale.endswith(
        f"a stale state: state {number}, and the newest is"
        f" {watch.data.newest.state.number}; our spend is due in 3 blocks"
    )
    chain.farm(3)
    due = line()
    assert due is not None
    assert due.endswith("; our spend is accepted")


def test_trouble_is_told_once_until_a_look_succeeds(tmp_path: Path) -> None:
    ours, said = in_a_hand(tmp_path, messages=12), list[str]()
    chain, watch = ours.table.chain, ChannelWatch(tmp_path, complain=said.append)
    for text in ("away", "away", "busy"):
        watch.look_failed(text)
    watch.line(watch.look(chain), None)
    watch.look_failed("busy")
    assert said == ["away", "busy", "busy"]


def test_a_fee_that_cannot_rise_comes_with_its_remedy(tmp_path: Path) -> None:
    data = in_a_hand(tmp_path, messages=12).copied()
    assert notice_text(FeeAtMaximum(5000, True), data).endswith("with a larger coin")
    assert notice_text(FeeAtMaximum(5000, False), data).endswith("with a higher --max-fee")
