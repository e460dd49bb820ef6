"""Defaults of options in a target's file and in `pyproject.toml`; the command line comes first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.channel.command import Ran, channelsim
from tests.channel.lab.toys import toy

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project" / "inside"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def with_table(path: Path, text: str) -> Path:
    path.write_text(path.read_text() + text)
    return path


def refused(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    return line


def test_a_targets_file_sets_what_the_command_line_leaves_open(
    here: Path, tmp_path: Path, capsys: Capsys
) -> None:
    """A path is relative to the file, wherever the command runs."""
    table = '\n[crosscheck]\ncases = 300\njobs = 1\nseed = "mine"\njunit = "own.xml"\n'
    target = with_table(toy(tmp_path), table)
    document = json.loads(channelsim(capsys, "crosscheck", target, "--json").out)
    assert (document["cases"], document["seed"]) == (300, "mine")
    assert (tmp_path / "own.xml").is_file()
    given = ("--cases", 200, "--seed", "other", "--json")
    document = json.loads(channelsim(capsys, "crosscheck", target, *given).out)
    assert (document["cases"], document["seed"]) == (200, "other")


def test_flags_are_true_or_false(here: Path, tmp_path: Path, capsys: Capsys) -> None:
    target = with_table(toy(tmp_path), "\n[coverage]\nall = true\nquiet = false\n")
    assert "referee" in channelsim(capsys, "coverage", target).out


def test_the_project_of_a_package_sets_them_for_its_games(
    here: Path, tmp_path: Path, capsys: Capsys
) -> None:
    """Of the folder above the current one; a target's file comes before it."""
    project = here.parent / "pyproject.toml"
    project.write_text('[tool.channelsim.crosscheck]\ncases = 320\njobs = 1\nseed = "project"\n')
    document = json.loads(channelsim(capsys, "crosscheck", "calpoker", "--json").out)
    assert (document["cases"], document["seed"]) == (320, "project")
    target = with_table(toy(tmp_path), "\n[crosscheck]\ncases = 300\n")
    document = json.loads(channelsim(capsys, "crosscheck", target, "--json").out)
    assert (document["cases"], document["seed"]) == (300, "project")
    project.write_text("")
    assert channelsim(capsys, "coverage", target).code == 0


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("[fuzz]\nsecnds = 3\n", "[fuzz] secnds: `channelsim fuzz` has no such option"),
        ('[fuzz]\nseconds = "x"\n', "[fuzz] seconds: x: a number from 0.1 to"),
        ("[fuzz]\nseconds = true\n", "[fuzz] seconds: a text or a number"),
        ("[fuzz]\nseconds = [1]\n", "[fuzz] seconds: a text or a number"),
        ("[fuzz]\nquiet = 1\n", "[fuzz] quiet: true or false"),
        ("[fuzz]\njson = true\n", "[fuzz] json: `channelsim fuzz` has no such option"),
        ("[fuzz]\ntarget = 'x'\n", "[fuzz] target: `channelsim fuzz` has no such option"),
        ("fuzz = 3\n", "fuzz: "),
    ],
)
def test_a_wrong_key_is_one_line_with_its_place(
    table: str, says: str, here: Path, tmp_path: Path, capsys: Capsys
) -> None:
    path = toy(tmp_path)
    line = len(path.read_text().splitlines()) + table.count("\n")
    if table.startswith("fuzz"):
        path.write_text(table + path.read_text())
        line = 1
    else:
        with_table(path, table)
    said = refused(channelsim(capsys, "fuzz", path))
    assert f"{path}: line {line}, column 1: {says}" in said
    # Other commands ignore the options of this one, but not a table that is none.
    code = channelsim(capsys, "coverage", path).code
    assert code == (2 if table.startswith("fuzz") else 0)
