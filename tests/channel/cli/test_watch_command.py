"""`channelsim watch`: a process that has a copy of the watch data, and a node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from tests.channel.command import channelsim
from tests.channel.disputes import publish_old, received
from tests.channel.table import ANN, BEN
from tests.channel.watch.test_watch import in_a_hand

COMMAND = "from channelsim.channel.cli import main; main()"


def test_a_watcher_in_a_process_preempts_a_stale_state(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower, table = tmp_path / "tower", ours.table
    shutil.copytree(ours.folder, tower)
    while table.ends[ANN].play.newest.state.number < 7:
        assert table.step()
    newest = table.ends[ANN].play.newest.state.number
    stale = received(table, BEN)[1]
    with table.chain.served() as url:
        watcher = subprocess.Popen(
            [
                *(sys.executable, "-c", COMMAND, "watch", str(tower), "--node", url),
                *("--every", "0.05", "--wait", "2", "--json"),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert watcher.stdout is not None

        def line() -> dict[str, Any]:
            assert watcher.stdout is not None
            found: dict[str, Any] = json.loads(watcher.stdout.readline())
            return found

        try:
            assert line()["step"] == "open"
            shutil.copytree(ours.folder, tower, dirs_exist_ok=True)
            assert (found := line())["newest"] == newest, found
            publish_old(table, BEN, stale)
            table.chain.farm()
            assert (found := line())["state"] == stale
            assert (found["step"], found["pushed"]) == ("stale", None)
            table.chain.farm(2)
            assert line()["pushed"] == "accepted"
            table.chain.farm()
            assert (found := line())["step"] == "paid"
            assert (found["state"], found["final"]) == (newest, False)
            table.chain.farm(3)
            assert line()["final"]
            assert watcher.wait(timeout=60) == 0
        finally:
            watcher.kill()
            watcher.communicate()


@pytest.mark.parametrize("form", ["--json", "--text"])
def test_a_state_that_the_data_do_not_have_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    old, table = tmp_path / "old", ours.table
    shutil.copytree(ours.folder, old)
    while table.step():
        pass
    publish_old(table, BEN, received(table, BEN)[-1])
    table.chain.farm(5)
    with table.chain.served() as url:
        ran = channelsim(capsys, "watch", old, "--node", url, form)
    assert (ran.code, ran.err) == (1, "")
    assert '"unknown"' in ran.out or "a state that these data do not have" in ran.out


def test_wrong_use_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = in_a_hand(tmp_path / "watch", messages=12).folder
    with SimulatedChain(99).served() as url:
        for options, reason in (
            ((tmp_path, "--node", url), "name a copy of the folder 'watch'"),
            ((folder,), "name the URL of a full node"),
            ((folder, "--node", "http://127.0.0.1:1", "--cert", "x"), "--cert and --key: both"),
            ((folder, "--node", url, "--wait", "-1"), "a whole number from 0"),
        ):
            ran = channelsim(capsys, "watch", *options)
            assert (ran.code, ran.out) == (2, "")
            assert reason in ran.err
            assert ran.err.count("\n") == 1
