"""`channelsim report -o`, `view`, and the option `--report`."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path

import pytest

from tests.browser import parsed, text_of
from tests.channel.command import channelsim
from tests.channel.written_documents import crosscheck, text
from tests.channel.written_findings import written as written_finding

Capsys = pytest.CaptureFixture[str]


def test_the_page_of_a_transcript_is_that_of_the_session(tmp_path: Path, capsys: Capsys) -> None:
    transcript, page, again = (tmp_path / name for name in ("s.jsonl", "a.html", "b.html"))
    options = ("--hands", 1, "--seed", 1, "--transcript", transcript, "--report", page)
    assert channelsim(capsys, "play", "calpoker", *options).code == 0
    ran = channelsim(capsys, "report", transcript, "-o", again)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert page.read_bytes() == again.read_bytes()
    assert channelsim(capsys, "report", transcript, "-o", "-").out == page.read_text("utf-8")
    # A transcript that was changed is refused, and the page stays.
    transcript.write_bytes(transcript.read_bytes().replace(b'"hands":1', b'"hands":2'))
    ran = channelsim(capsys, "report", transcript, "-o", again)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert page.read_bytes() == again.read_bytes()


def test_a_page_replaces_no_file_but_a_page(tmp_path: Path, capsys: Capsys) -> None:
    printed, page = tmp_path / "printed.json", tmp_path / "a.html"
    printed.write_text(text(crosscheck()))
    for command in ("report", "view"):
        ran = channelsim(capsys, command, printed, "-o", printed)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "this file is not a page" in ran.err
    assert printed.read_text() == text(crosscheck())
    page.touch()
    for _ in range(2):
        assert channelsim(capsys, "report", printed, "-o", page).code == 0


@pytest.mark.parametrize("command", [("play", "calpoker"), ("dispute", "run", "silent")])
def test_a_page_and_a_transcript_are_two_files(
    command: tuple[str, ...], tmp_path: Path, capsys: Capsys
) -> None:
    both = tmp_path / "both"
    ran = channelsim(capsys, *command, "--transcript", both, "--report", both)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "the file of --transcript" in ran.err
    assert [*tmp_path.iterdir()] == []


def test_the_page_of_a_dispute(tmp_path: Path, capsys: Capsys) -> None:
    transcript, page, again = (tmp_path / name for name in ("s.jsonl", "a.html", "b.html"))
    options = ("--game", "calpoker", "--transcript", transcript, "--report", page)
    assert channelsim(capsys, "dispute", "run", "silent@5", *options).code == 0
    assert channelsim(capsys, "report", transcript, "-o", again).code == 0
    assert page.read_bytes() == again.read_bytes()
    assert "Initiator against Receiver as silent" in text_of(parsed(page.read_text("utf-8")))


@pytest.mark.parametrize("there", [True, False])
def test_a_browser_opens_a_page_and_its_path_is_printed(
    there: bool, tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def browse(url: str) -> bool:
        seen.append(url)
        return there

    monkeypatch.setattr(webbrowser, "open", browse)
    printed, page = tmp_path / "printed.json", tmp_path / "a.html"
    printed.write_text(text(crosscheck()))
    ran = channelsim(capsys, "view", printed, "-o", page)
    assert (ran.code, ran.out, ran.err) == (0, f"{page}\n", "")
    ran = channelsim(capsys, "view", page)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "already a page" in ran.err
    assert seen == [page.as_uri()]


def test_a_document_and_a_finding_may_come_through_a_pipe(tmp_path: Path, capsys: Capsys) -> None:
    for data in (text(crosscheck()), written_finding()):
        reader, writer = os.pipe()
        os.write(writer, data.encode())
        os.close(writer)
        ran = channelsim(capsys, "report", f"/dev/fd/{reader}", "-o", tmp_path / "a.html")
        os.close(reader)
        assert (ran.code, ran.err) == (0, "")


def test_a_file_without_a_page_is_named(tmp_path: Path, capsys: Capsys) -> None:
    script = tmp_path / "script.toml"
    script.write_text("[[hand]]\n")
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "campaign.json").write_text("{}")
    for arguments, said in (
        (
            ("report", script, "-o", tmp_path / "a.html"),
            "; `channelsim play GAME --script FILE` plays it",
        ),
        (("view", tmp_path / "gone.jsonl"), "gone.jsonl: cannot be read"),
        (("report", tmp_path, "markdown"), "this folder holds no campaign, so it has no document"),
        (("report", tmp_path / "begun", "markdown"), "the campaign is not done yet"),
        (("report", script), "-o FILE for a page, or the name of a format"),
        (("report", script, "text", "-o", tmp_path / "a.html"), "--output: is for a page"),
        (("dispute", "run", "--all", "--report", tmp_path / "a.html"), "--report: is of one"),
    ):
        ran = channelsim(capsys, *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), arguments
        assert said in ran.err
    assert not (tmp_path / "a.html").exists()
