"""`channelsim debug`, with its commands in a pipe."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from tests.channel.command import Ran, channelsim
from tests.channel.lab.toys import toy

Capsys = pytest.CaptureFixture[str]


def debugged(capsys: Capsys, monkeypatch: pytest.MonkeyPatch, text: str, *arguments: object) -> Ran:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return channelsim(capsys, "debug", *arguments)


def test_a_finding_from_a_pipe(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, out = toy(tmp_path, "shares are bound"), tmp_path / "found"
    channelsim(capsys, "crosscheck", target, "--cases", 600, "--jobs", 1, "--out", out)
    (file,) = (out / "findings").iterdir()
    ran = debugged(capsys, monkeypatch, "test\n\nback\ndecision\nset share 1\n", file)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("a toy, reveal: ")
    assert ran.out.count("(debug) ") == 4
    assert "(debug) decision\n" in ran.out
    assert "valid: the move is legal" in ran.out


def test_an_honest_hand_of_a_game(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = debugged(capsys, monkeypatch, "cases\nd\nq\nstep\n", "spacepoker", "--case", "2")
    assert ran.code == 0
    assert "spacepoker, commitB: " in ran.out
    assert "spacepoker-end-" in ran.out
    assert "(debug) step" not in ran.out  # it has ended before


def test_a_case_of_a_file_on_a_target(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = toy(tmp_path)
    cases = tmp_path / "honest.jsonl"
    ran = debugged(capsys, monkeypatch, "", cases, "--target", target, "--case", "3")
    assert ran.code == 0
    assert "a toy, reveal: " in ran.out


def test_wrong_use_is_one_line(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    for arguments, says in (
        (("nothing",), "nothing: cannot be read"),
        (("calpoker", "--case", "x"), "--case x: no such case"),
        (("calpoker", "--target", "spacepoker"), "--target goes with a file"),
        ((tmp_path / "empty.jsonl",), "has no cases"),
    ):
        ran = debugged(capsys, monkeypatch, "", *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert says in ran.err


def test_a_terminal_asks_until_its_end(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["step", "help"])

    def typed(prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typed)
    master, slave = os.openpty()
    with os.fdopen(slave) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        ran = channelsim(capsys, "debug", "calpoker")
    os.close(master)
    assert ran.code == 0
    assert "[1 of " in ran.out
