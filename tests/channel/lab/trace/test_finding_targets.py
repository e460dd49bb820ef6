"""Findings that are looked at from another folder than the one that they were found in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import parsed
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.report.html.finding_page import finding_page
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy

LENGTH = "(= (strlen MOVE) 32)"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a target with a mistake, with its findings below."""
    folder = tmp_path / "project"
    folder.mkdir()
    toy(folder)
    commit = folder / "commit.clsp"
    commit.write_text(commit.read_text().replace(LENGTH, "(= (strlen MOVE) 33)"))
    monkeypatch.chdir(folder)
    return folder


def finding_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, Finding]:
    channelsim(capsys, "fuzz", "toy.toml", "--work", "1", "--out", "campaign", "--jobs", 1)
    files = sorted((folder / "campaign" / "findings").glob("*.json"))
    stored = [(file, parsed(file, file.read_bytes())) for file in files]
    return next((file, finding) for file, finding in stored if finding.place == "commit")


def marked(path: Path, finding: Finding) -> list[str]:
    page = finding_page(path, finding)
    return [line.text for file in page.run.sources for line in file.lines if line.decides]


def test_sources_are_found_relative_to_the_finding(
    here: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, finding = finding_in(here, capsys)
    assert finding.source == "toy.toml"
    lines = marked(path, finding)
    assert ["33" in line for line in lines] == [True]
    monkeypatch.chdir(tmp_path)
    assert marked(path, finding) == lines
    assert "commit.clsp:" in channelsim(capsys, "trace", path).out
    assert "it still happens" in channelsim(capsys, "replay", path).out
    elsewhere = tmp_path / "finding.json"
    path.rename(elsewhere)
    assert marked(elsewhere, finding) == []
    shown = " ".join(finding_page(elsewhere, finding).run.ended)
    assert f"toy.toml is neither here nor in a folder above {tmp_path}" in " ".join(shown.split())


@pytest.mark.parametrize("change", ["gone", "changed"])
def test_the_file_that_is_not_as_it_was_is_named(
    change: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, finding = finding_in(here, capsys)
    if change == "gone":
        (here / "bid.clsp").unlink()
        expected = "no file bid.clsp"
    else:
        commit = here / "commit.clsp"
        commit.write_text(commit.read_text().replace("33", "34"))
        expected = "toy.toml: its programs are not those of the finding any more"
    page = finding_page(path, finding)
    assert page.run.sources == ()
    assert expected in " ".join(" ".join(page.run.ended).split())


def test_a_compiled_program_has_no_lines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = load("toy.toml").programs["commit"]
    (here / "commit.hex").write_text(program.serialized.hex())
    target = here / "toy.toml"
    target.write_text(target.read_text().replace("commit.clsp", "commit.hex"))
    path, finding = finding_in(here, capsys)
    ended = " ".join(" ".join(finding_page(path, finding).run.ended).split())
    assert "commit.hex is a compiled program" in ended
    assert json.loads(path.read_bytes())["source_line"] == ""
