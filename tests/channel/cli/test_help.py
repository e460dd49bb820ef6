"""The list of commands: under headings, and quick; and the ways to start the command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.cli.app import commands
from channelsim.channel.cli.commands import HEADINGS
from channelsim.channel.report.terminal import print_json
from channelsim.games import registry
from tests.channel.command import channelsim

Capsys = pytest.CaptureFixture[str]


def test_each_command_is_under_one_heading(capsys: Capsys) -> None:
    named = Counter(name for names in HEADINGS.values() for name in names)
    assert set(named) == set(commands.commands)
    assert set(named.values()) == {1}
    out = channelsim(capsys, "--help").out
    titles = re.findall(r"^(\S.*):$", out.split("Options:")[1], re.MULTILINE)
    assert titles == list(HEADINGS)


@pytest.mark.parametrize("path", [(), ("dispute",), ("vectors",)], ids=" ".join)
def test_a_list_says_what_the_commands_say(path: tuple[str, ...], capsys: Capsys) -> None:
    """It is read from the files: the commands themselves are not imported for it."""
    group: Any = commands
    for name in path:
        group = group.commands[name]
    out = " ".join(channelsim(capsys, *path, "--help").out.split())
    for name, command in group.commands.items():
        said = group.commands.summary(name)
        assert said == " ".join(str(command.help).partition("\n\n")[0].split())
        assert f"{name} {said}" in out


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_no_command(option: str) -> None:
    """It takes a tenth of a second of processor time, a third of what any command takes."""
    code = (
        "import sys\nfrom channelsim.channel.cli import main\n"
        f"sys.argv = ['channelsim', '{option}']\n"
        "try: main()\n"
        "except SystemExit: print([name for name in sys.modules if name.startswith(PREFIXES)])"
    )
    prefixes = (
        "channelsim.channel.cli.commands.",
        "channelsim.channel.lab",
        "channelsim.channel.session",
        "importlib.metadata",
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"PREFIXES = {prefixes!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_help_of_a_command_imports_none_of_its_work() -> None:
    """Help needs the declarations: 0.2 s of processor time, a third of what some work takes."""
    code = (
        "import sys\n"
        "from channelsim.channel.cli.app import commands\n"
        "def paths(group, *path):\n"
        "    for name, command in getattr(group, 'commands', {}).items():\n"
        "        yield from paths(command, *path, name)\n"
        "    if path: yield path\n"
        "for path in paths(commands):\n"
        "    try: commands.main([*path, '--help'], standalone_mode=False)\n"
        "    except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith(PREFIXES)])"
    )
    prefixes = (
        *("channelsim.channel.cli.work", "channelsim.channel.lab", "channelsim.channel.peer."),
        *("channelsim.channel.store", "channelsim.games.registry", "rich.console", "pydantic"),
        "importlib.metadata",
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"PREFIXES = {prefixes!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.count("Usage: ") > 30
    assert ran.stdout.splitlines()[-1] == "[]"


def test_the_package_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "channelsim", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("channelsim ")


def test_games_as_data(capsys: Capsys) -> None:
    document = json.loads(channelsim(capsys, "games", "--json").out)
    games = {game["name"]: game for game in document["games"]}
    assert set(games) == {game.name for game in registry.usable()}
    assert games["calpoker"]["validators"] == list(registry.get("calpoker").validators)
    assert {"caller", "ask"} <= set(games["spacepoker"]["policies"])
    assert {"horse", "dealers-choice"} <= {rotation["name"] for rotation in document["rotations"]}


def test_a_fingerprint_is_bare_unless_json_is_asked_for(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell takes it as it is: `--peer $(channelsim peer identity DIR)`."""
    monkeypatch.setenv("CHANNELSIM_PASSPHRASE", "of a test")
    ran = channelsim(capsys, "peer", "identity", tmp_path / "alice")
    assert re.fullmatch(r"[0-9a-f]{64}\n", ran.out)
    same = channelsim(capsys, "peer", "identity", tmp_path / "alice", "--json")
    print_json({"fingerprint": ran.out.strip()})
    assert same.out == capsys.readouterr().out
