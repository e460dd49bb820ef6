"""Errors that say what is wrong, where, and what to do."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from channelsim.channel.cli import copied_checkout
from channelsim.channel.cli.copied_checkout import copied_checkout as noticed
from channelsim.clsp import program_cache
from channelsim.clsp.programs import Program
from tests.channel.command import Ran, channelsim
from tests.channel.lab.toys import toy
from tests.channel.written_findings import written

Capsys = pytest.CaptureFixture[str]


def refused(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: "\ufeff" + text, "line 1, column 1: begins with a byte order mark"),
        (lambda text: text + '[programs]\na = "b"\n', "the table [programs] is written twice"),
        (
            lambda text: text.replace("[play]", 'commit = "x"\n[play]'),
            "line 6, column 13: not TOML: the key commit is written twice",
        ),
    ],
)
def test_a_target_with_a_common_slip(
    change: object, says: str, tmp_path: Path, capsys: Capsys
) -> None:
    path = toy(tmp_path)
    assert callable(change)
    path.write_text(change(path.read_text()), encoding="utf-8")
    line = refused(channelsim(capsys, "crosscheck", path))
    assert str(path) in line
    assert says in line


@pytest.mark.parametrize("cut", [1, 5, 7])
@pytest.mark.parametrize("command", ["view", "trace", "replay", "report", "compare"])
def test_json_that_ends_early(command: str, cut: int, tmp_path: Path, capsys: Capsys) -> None:
    """Whatever it was going to be: before the end, in a number, in a text."""
    file = tmp_path / "half.json"
    whole = json.dumps({"format": "channelsim finding 2", "rule": "x", "times": 0.25}, indent=2)
    file.write_text(whole[:-cut])
    more: dict[str, tuple[object, ...]] = {"compare": (file,), "report": ("-o", "-")}
    line = refused(channelsim(capsys, command, file, *more.get(command, ())))
    assert "half.json: the JSON ends early, at line 4, column " in line


def test_another_targets_campaign_is_named_by_the_first_difference(
    tmp_path: Path, capsys: Capsys
) -> None:
    folder = tmp_path / "c"
    asked = ("--cases", 40, "--jobs", 1, "--out", folder)
    channelsim(capsys, "crosscheck", "calpoker", *asked)
    line = refused(channelsim(capsys, "crosscheck", "spacepoker", *asked, "--resume"))
    assert "target 'spacepoker' instead of 'calpoker'; and " in line
    assert line.count(" instead of ") == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--peer", "zz"), "--peer zz: a fingerprint is 64 hex digits"),
        (("--peer", "00" * 32, "--node", "ftp://x"), "--node ftp://x: the URL of a node is http"),
    ],
)
def test_an_option_of_a_peer_is_named_with_its_value(
    options: tuple[str, ...],
    says: str,
    tmp_path: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHANNELSIM_PASSPHRASE", "of a test")
    nodes = () if "--node" in options else ("--node", "http://127.0.0.1:1")
    asked = ("peer", "listen", tmp_path / "d", "--game", "calpoker", "--wallet-key", "x")
    assert says in refused(channelsim(capsys, *asked, *nodes, *options))


def test_a_relative_cache_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the specification of base directories wants it: it would be elsewhere in each folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    program = Program(bytes.fromhex("ff10ff02ff0580"), {})
    program_cache.write("0" * 64, program)
    assert not (tmp_path / "relative").exists()
    assert program_cache.read("0" * 64) == program
    assert (tmp_path / "home" / ".cache" / "channelsim").is_dir()


def test_a_copied_checkout_that_runs_the_original_is_noticed(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    for name in ("channelsim", "channel", "clsp", "games", ".venv/bin"):
        (original / name).mkdir(parents=True)
    (original / ".venv" / "pyvenv.cfg").touch()
    shutil.copytree(original, copy)
    script = str(copy / ".venv" / "bin" / "channelsim")
    said = noticed(script, str(original / ".venv"), original)
    assert said.startswith(f"{copy} is a copy whose environment runs the code of {original}; ")
    # `python -m` runs in the environment of the copy.
    assert noticed("-m", str(copy / ".venv"), original) == said
    assert noticed(script, str(copy / ".venv"), copy) == ""
    assert noticed("channelsim", sys.base_prefix, original) == ""
    assert noticed(str(tmp_path / "bin" / "channelsim"), str(tmp_path / "env"), original) == ""
    assert noticed(sys.argv[0], sys.prefix) == ""
    assert copied_checkout.HERE.is_dir()


@pytest.mark.parametrize("command", ["view", "trace", "replay", "report", "debug"])
@pytest.mark.parametrize("text", ['{"format": "channelsim finding 2"}', '["head", {}]\n'])
def test_json_with_a_byte_order_mark(
    command: str, text: str, tmp_path: Path, capsys: Capsys
) -> None:
    file = tmp_path / "marked.json"
    file.write_text(f"\ufeff{text}", "utf-8")
    more: tuple[object, ...] = ("-o", "-") if command == "report" else ()
    line = refused(channelsim(capsys, command, file, *more))
    assert "marked.json: begins with a byte order mark, which JSON does not have" in line


@pytest.mark.parametrize("command", ["fuzz", "conform", "crosscheck", "coverage", "debug", "cost"])
def test_an_empty_name_of_a_target(command: str, capsys: Capsys) -> None:
    line = refused(channelsim(capsys, command, ""))
    assert "'': neither a game nor the name of a file" in line


@pytest.mark.parametrize("command", ["view", "trace", "debug", "replay", "report", "compare"])
def test_json_that_is_written_wrongly(command: str, tmp_path: Path, capsys: Capsys) -> None:
    """It begins as one of our files, so it is no file of cases with unknown keys."""
    file = tmp_path / "wrong.json"
    file.write_text('{"format": "channelsim finding 2",\n "times": NaN}')
    more: dict[str, tuple[object, ...]] = {"compare": (file,), "report": ("-o", "-")}
    line = refused(channelsim(capsys, command, file, *more.get(command, ())))
    assert "wrong.json: line 2, column 11: not JSON: invalid character" in line


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("chain", "make", "1", "--node", ""), "the node at '' cannot be asked: its URL must be"),
        (("attack", "--faults", "zz"), "is called 'zz'; the groups are messages, connection,"),
        (("attack", "--faults", "dropp"), "is called 'dropp' (did you mean drop?)"),
        (("attack", "calpoker", "--out", "FILE"), "FILE: cannot be written (it is no folder)"),
        (("explore", "calpoker", "--out", "FILE"), "FILE: cannot be written (it is no folder)"),
    ],
)
def test_a_value_that_cannot_be_meant(
    command: tuple[str, ...],
    says: str,
    tmp_path: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    assert says in refused(channelsim(capsys, *command))


def test_what_cannot_be_replayed_is_shown_by_a_command_that_shows_it(
    tmp_path: Path, capsys: Capsys
) -> None:
    file = tmp_path / "found.json"
    file.write_text(written(vector=None, brun={}, probe={}, scenario=None, replay=""))
    line = refused(channelsim(capsys, "replay", file))
    assert f"`channelsim view {file}` shows it" in line
    assert channelsim(capsys, "report", file, "-o", "-").code == 0
