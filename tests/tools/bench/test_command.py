"""The command of `scripts/bench`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from channelsim.channel.cli import main
from channelsim.channel.cli.app import build_command
from scripts.tools.bench import command
from tests.channel.command import Ran, channelsim
from tests.installed import EXAMPLES, install
from tests.paths import ROOT
from tests.tools.bench.small import make_small

Capsys = pytest.CaptureFixture[str]


def bench(capsys: Capsys, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Ran:
    """Run `scripts/bench` in this process."""
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    with pytest.raises(SystemExit) as ended:
        main(build_command(command, "scripts/bench"))
    captured = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return Ran(ended.value.code, captured.out, captured.err)


def test_its_help_has_an_example(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = bench(capsys, monkeypatch, "--help")
    assert ran.code == 0
    assert "Usage: scripts/bench" in ran.out
    assert "Example: scripts/bench" in ran.out


def test_wrong_use_is_one_line(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = bench(capsys, monkeypatch, "--hands", "3", "--channels", "2", "--text")
    assert ran == Ran(2, "", "channelsim: --channels: does not go with --hands\n")


def test_the_product_names_the_script(capsys: Capsys) -> None:
    ran = channelsim(capsys, "bench", "--json")
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert "scripts/bench" in line


@pytest.mark.long
def test_the_locale_c_gets_plain_letters_in_whole_words(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    make_small(monkeypatch)
    ran = bench(capsys, monkeypatch, "--seconds", "1", "--text")
    assert ran.code == 0
    assert not ran.out.startswith("{")
    assert ran.out.isascii()
    assert ran.err.isascii()
    for line in ran.out.splitlines():
        assert len(line) <= 60 or len(line.split()) == 1, line


@pytest.mark.long
def test_a_game_of_another_package_is_measured(tmp_path: Path) -> None:
    install(tmp_path, "parity-game", {"games": ["parity = parity:GAME"]})
    paths = (ROOT, tmp_path, EXAMPLES / "parity")
    ran = subprocess.run(
        [sys.executable, "-m", "scripts.tools.bench", "--seconds", "1", "--json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        check=True,
    )
    assert "parity" in json.loads(ran.stdout)["signed_hand"]
