"""An author's own folders called `games`, `channel` or `clsp` do not get in the way of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OWN = """
import games
from channelsim.games import registry

def test_both_are_there(target):
    assert games.answer == 42
    assert target.name in registry.names()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in which all of our names are packages of its own."""
    for name in ("games", "channel", "clsp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("answer = 42\n")
    (tmp_path / "conftest.py").write_text("import games, channel, clsp\n")
    (tmp_path / "test_own.py").write_text(OWN)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python as in that project, its folder first on the path."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_command_finds_its_own_packages(folder: Path) -> None:
    code = "from channelsim.channel.cli import main; main()"
    ran = run(folder, "-c", code, "games")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "spacepoker" in ran.stdout


def test_the_plugin_works_beside_them(folder: Path) -> None:
    plugin = "channelsim.channel.lab.pytest.plugin"
    command = ["-m", "pytest", "-q", "-p", plugin, "--channelsim-target", "calpoker"]
    ran = run(folder, *command)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout
