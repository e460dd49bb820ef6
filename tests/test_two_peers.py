"""The example with two peers: it plays to the end, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.paths import ROOT

SCRIPT = ROOT / "examples" / "two-peers" / "two_peers.py"
POLICIES = ("--alice", "caller", "--bob", "random", "--block-every", "0.1", "--hands", "1")
GUARD = 120.0


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """The script in a session of its own, which keeps its files in this folder."""
    return subprocess.Popen(
        [sys.executable, SCRIPT, *options],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def left_over(folder: Path) -> list[str]:
    """Processes whose arguments name a file in this folder."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "args"], capture_output=True, check=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if f"{folder}" in line]


@pytest.mark.long
def test_two_policies_play_a_channel(tmp_path: Path) -> None:
    script = started(tmp_path, *POLICIES)
    out, err = script.communicate(timeout=GUARD)
    assert (script.returncode, err) == (0, "")
    assert out.splitlines()[-1].startswith("Bob: the end; balances Initiator ")
    assert "closed by the shutdown" in out
    assert (list(tmp_path.iterdir()), left_over(tmp_path)) == ([], [])


@pytest.mark.long
@pytest.mark.parametrize("ends_by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_cleans_up(tmp_path: Path, ends_by: int) -> None:
    script = started(tmp_path, *POLICIES, "--hands", "100")
    assert script.stdout is not None
    try:
        shown = ""
        while "the channel is open" not in shown:
            shown = script.stdout.readline()
            assert shown
        assert left_over(tmp_path)
        if ends_by == signal.SIGINT:
            os.killpg(script.pid, signal.SIGINT)  # as a terminal does
        else:
            script.send_signal(ends_by)
        script.communicate(timeout=GUARD)
        assert script.returncode == 128 + ends_by
        assert (list(tmp_path.iterdir()), left_over(tmp_path)) == ([], [])
    finally:
        script.terminate()
        script.communicate(timeout=GUARD)


@pytest.mark.long
def test_a_person_sees_both_hands_at_the_end(tmp_path: Path) -> None:
    script = started(tmp_path, "--block-every", "0.1", "--hands", "1")
    out, err = script.communicate("check\n" * 10, timeout=GUARD)
    assert (script.returncode, err) == (0, "")
    assert out.count("You are the initiator.") == 1
    assert out.count("The receiver checks.") >= 3
    _, _, end = out.partition("game 0 ended")
    assert "their cards  │" in end
    assert "their cards" not in out.partition("game 0 ended")[0]
    assert out.splitlines()[-1].startswith("Bob: the end; balances Initiator ")
    assert "closed by the shutdown" in out
    assert (list(tmp_path.iterdir()), left_over(tmp_path)) == ([], [])


def test_two_terminals_get_commands_that_fit(tmp_path: Path) -> None:
    script = started(tmp_path, "--two-terminals")
    assert script.stdout is not None
    lines: list[str] = []
    while not (lines and lines[-1].startswith("Ctrl-C")):
        lines.append(script.stdout.readline())
        assert lines[-1]
    bob, alice = (line.split() for line in lines if line.startswith("channelsim peer "))
    assert bob[bob.index("--address") + 1] == alice[alice.index("--address") + 1]
    assert bob[bob.index("--policy") + 1] == "ask"
    time.sleep(0.1)
    os.killpg(script.pid, signal.SIGINT)
    script.communicate(timeout=GUARD)
    assert script.returncode == 130
    assert (list(tmp_path.iterdir()), left_over(tmp_path)) == ([], [])
