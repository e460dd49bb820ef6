"""Several files for `replay`: each is tried, and the exit code is the worst."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from channelsim.channel.session.transcript import Lines
from tests.channel.command import channelsim

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def transcript(tmp_path: Path, capsys: Capsys) -> Path:
    file = tmp_path / "session.jsonl"
    options = ("--hands", 1, "--seed", 1, "--transcript", file)
    assert channelsim(capsys, "play", "calpoker", *options).code == 0
    return file


def test_each_file_is_replayed(transcript: Path, tmp_path: Path, capsys: Capsys) -> None:
    ran = channelsim(capsys, "replay", transcript, transcript)
    assert (ran.code, ran.err) == (0, "")
    both = json.loads(ran.out)
    assert [one["file"] for one in both] == [str(transcript)] * 2
    (digest,) = {one["digest"] for one in both}
    # A file that cannot be replayed is named, and the others are replayed all the same.
    gone = tmp_path / "gone.jsonl"
    ran = channelsim(capsys, "replay", gone, transcript, "--text", "--quiet")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "gone.jsonl: cannot be read" in ran.err
    assert f"── {transcript} ──" in ran.out
    assert digest in ran.out


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("command", ["replay", "report"])
def test_a_dispute_of_an_earlier_version_is_named_as_such(
    command: str, number: int, tmp_path: Path, capsys: Capsys
) -> None:
    lines: list[bytes] = []
    written = Lines(lines.append)
    written.write({"format": f"channelsim dispute {number}", "scenario": {}})
    written.write({"end": {}})
    file = tmp_path / "dispute.jsonl"
    file.write_bytes(b"".join(lines))
    more = ("-o", tmp_path / "page.html") if command == "report" else ()
    ran = channelsim(capsys, command, file, *more)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "line 1: a dispute that an earlier version recorded" in ran.err


def test_a_person_plays_the_receiver(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "asked.jsonl"
    typed = iter(["y", "fold", "fold", "n"])
    monkeypatch.setattr("builtins.input", lambda: next(typed))
    options = ("--policy", "caller,ask", "--seed", 3, "--hands", 3, "--transcript", file)
    ran = channelsim(capsys, "play", "spacepoker", *options)
    assert ran.code == 0
    document = json.loads(ran.out)
    assert document["policies"] == {"initiator": "caller", "receiver": "ask"}
    assert len(document["hands"]) == 2
    assert "The initiator proposes hand 1: play it?" in ran.err
    assert "Receiver's cards:" in ran.err
    monkeypatch.setattr("builtins.input", lambda: pytest.fail("a replay asks no person"))
    again = channelsim(capsys, "replay", file)
    assert (again.code, json.loads(again.out)["digest"]) == (0, document["digest"])


def test_two_persons_cannot_play_at_one_terminal(capsys: Capsys) -> None:
    ran = channelsim(capsys, "play", "spacepoker", "--policy", "ask,ask")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "--policy: `ask` plays one of the two" in ran.err
