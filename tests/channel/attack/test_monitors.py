"""Monitors of a side's process: each sees a mistake that is planted for it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.campaign import broken_by
from channelsim.channel.attack.failing_files import failing_log, lose_power
from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.store import durable_peer
from channelsim.channel.watch.watch_data import NEWEST, STATES
from tools.attack_faults.planting import Fault, Reach, changing
from tools.attack_faults.table import faults

TABLE = {fault.name: fault for fault in faults()}

LARGE = Fault(
    "large-overview",
    "store",
    "the overview has a megabyte",
    changing(durable_peer, "encode_overview", lambda overview: bytes(1 << 20)),
)


@pytest.fixture(autouse=True, scope="module")
def remembered() -> Iterator[None]:
    with bls.remembered():
        yield


def broken_with(fault: Fault, *actions: Action) -> dict[str, str]:
    with ExitStack() as stack:
        fault.plant(stack, Reach())
        return broken_by(Attack(("spacepoker",), "monitors", actions, hands=1, snapshots=3))


CRASH = Action("crash", 0, 14, 2)


@pytest.mark.parametrize(
    ("fault", "monitor", "actions"),
    [
        ("forgets-to-tell-moved", "news", ()),
        ("forgets-to-tell-channel-closed", "news", ()),
        ("forgets-to-tell-game-settled", "news", ()),
        ("forgets-to-watch", "news", ()),
        ("watch-data-one-behind", "watch-data", ()),
        ("watch-data-of-the-start", "watch-data", ()),
        ("takes-funding-for-deep-early", "times", ()),
        ("takes-funding-for-deep-late", "times", ()),
        ("shutdown-final-early", "times", ()),
        ("shutdown-final-late", "times", ()),
        ("answers-due-late", "times", (Action("drop", 0, 2),)),
        ("answers-due-early", "times", (Action("drop", 0, 2),)),
        ("unroll-times-out-early", "times", (Action("go-on-chain", 1, 18),)),
        ("unroll-times-out-late", "times", (Action("go-on-chain", 1, 18),)),
        ("game-times-out-early", "times", (Action("go-on-chain", 0, 20),)),
        ("seals-nothing", "sealed", ()),
        ("waits-for-the-next-block", "pace", ()),
        ("snapshot-without-watched", "restart", (CRASH,)),
    ],
)
def test_a_monitor_sees_its_mistake(fault: str, monitor: str, actions: tuple[Action, ...]) -> None:
    assert monitor in broken_with(TABLE[fault], *actions)


def test_files_that_grow_too_fast_are_seen() -> None:
    assert "disk" in broken_with(LARGE)


def test_without_a_mistake_no_monitor_sees_anything() -> None:
    assert broken_by(Attack(("spacepoker",), "monitors", (CRASH,), hands=1, snapshots=3)) == {}


# --- the watcher's files -------------------------------------------------------------------------


def test_a_line_is_not_written_or_half_of_it_and_both_are_mended(tmp_path: Path) -> None:
    torn, fails = Action("watch-torn", 0, 0), Action("watch-fails", 0, 0)
    due: list[Action | None] = [None, None, torn, torn, fails]
    path = tmp_path / "lines"
    log = failing_log(lambda: due.pop(0))(path, b"header", 1000)
    log.append([b"first"])
    for size in (16, 16, 16):
        with pytest.raises(UsageError, match="cannot be written"):
            log.append([b"third"])
        assert path.stat().st_size == size
    due.append(None)
    log.append([b"second"])
    assert path.read_bytes() == b"header\nfirst\nsecond\n"
    log.close()


def test_a_loss_of_power_takes_the_end_of_the_states_and_perhaps_the_newest(tmp_path: Path) -> None:
    lose_power(tmp_path, 3)
    (tmp_path / STATES).write_bytes(bytes(1000))
    (tmp_path / NEWEST).write_bytes(b"newest")
    lose_power(tmp_path, 2)
    assert (tmp_path / STATES).stat().st_size == 1000 - 2 * 97
    assert (tmp_path / NEWEST).read_bytes() == b"newest"
    lose_power(tmp_path, 9)
    assert (tmp_path / STATES).stat().st_size == 0
    assert (tmp_path / NEWEST).read_bytes() == b""
