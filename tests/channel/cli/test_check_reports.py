"""JUnit and SARIF of every checking command, and what an interrupted one says."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from channelsim.channel.campaign.campaign import run_shards
from channelsim.channel.campaign.job import Counts
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.crosscheck import crosscheck
from channelsim.channel.lab.crosscheck.crosscheck import ChunkTally
from tests.channel.command import Ran, channelsim
from tests.channel.lab.toys import toy

Capsys = pytest.CaptureFixture[str]

THEFT = "shares are bound"

CHECKS = {
    "crosscheck": ("--cases", 600, "--jobs", 1),
    "fuzz": ("--work", 60_000, "--jobs", 1),
    "conform": ("--cases", 300, "--seconds", 0.2, "--jobs", 1),
}


class Reports:
    """The files of a command's reports."""

    def __init__(self, folder: Path) -> None:
        self._suite, self._log = folder / "report.xml", folder / "report.sarif"
        self.options = ("--junit", self._suite, "--sarif", self._log)

    @property
    def suite(self) -> ElementTree.Element:
        return ElementTree.parse(self._suite).getroot()

    @property
    def failures(self) -> dict[str, list[str]]:
        """The messages of the failures, by test case."""
        return {
            str(case.get("name")): [str(failure.get("message")) for failure in case.iter("failure")]
            for case in self.suite.iter("testcase")
        }

    @property
    def errors(self) -> list[str]:
        return [str(error.get("message")) for error in self.suite.iter("error")]

    @property
    def run(self) -> dict[str, Any]:
        (run,) = json.loads(self._log.read_bytes())["runs"]
        assert isinstance(run, dict)
        return run

    @property
    def places(self) -> list[tuple[str, int]]:
        """The file and the line of each result."""
        physical = [
            place["physicalLocation"]
            for result in self.run["results"]
            for place in result["locations"]
        ]
        return [
            (place["artifactLocation"]["uri"], place.get("region", {}).get("startLine", 0))
            for place in physical
        ]


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reports:
    monkeypatch.chdir(tmp_path)  # what is stored by default is stored here
    return Reports(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=[pytest.mark.long] * (command == "conform"))
        for command in CHECKS
    ],
)
def test_a_finding_is_a_failure_and_stands_at_a_line(
    command: str, reports: Reports, tmp_path: Path, capsys: Capsys
) -> None:
    target = toy(tmp_path, THEFT)
    out = ("--out", tmp_path / "out")
    ran = channelsim(capsys, command, target, *CHECKS[command], *reports.options, *out)
    assert ran.code == 1
    assert any("may declare less" in text for texts in reports.failures.values() for text in texts)
    file, line = reports.places[0]
    text = Path(file).read_text().splitlines()[line - 1]
    assert "(= (sha256 (substr MOVE 0 16)) image)" in text  # the last test that passes
    assert reports.run["invocations"][0]["executionSuccessful"]
    assert reports.errors == []


@pytest.mark.parametrize("command", ["crosscheck", "fuzz"])
def test_the_steps_under_a_finding_are_commands_that_work(
    command: str, tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    target, out = toy(tmp_path, THEFT), tmp_path / "out"
    ran = channelsim(capsys, command, target, *CHECKS[command], "--out", out)
    steps = [shlex.split(line) for line in ran.out.splitlines() if "channelsim " in line]
    known = {"view", "trace"} | ({"replay"} if command == "fuzz" else set())
    assert {step[1] for step in steps} == known
    for step in steps:
        done = channelsim(capsys, *step[1:])
        assert (done.code, done.err) == (int(step[1] == "replay"), "")


def test_findings_that_are_not_stored_say_how_to_store_them(tmp_path: Path, capsys: Capsys) -> None:
    for command in ("crosscheck", "conform"):
        ran = channelsim(capsys, command, toy(tmp_path, THEFT), *CHECKS[command])
        assert "with --out DIR, findings are stored as files" in ran.out


def test_nothing_found_is_an_empty_log(reports: Reports, tmp_path: Path, capsys: Capsys) -> None:
    ran = channelsim(capsys, "crosscheck", toy(tmp_path), *CHECKS["crosscheck"], *reports.options)
    assert ran.code == 0
    assert reports.run["results"] == []
    assert not any(reports.failures.values())
    assert (reports.suite.get("failures"), reports.suite.get("errors")) == ("0", "0")


def test_what_was_never_tried_is_an_error(reports: Reports, capsys: Capsys) -> None:
    ran = channelsim(
        capsys, "fuzz", "calpoker", "--work", 2, "--jobs", 1, "--quiet", *reports.options
    )
    assert ran.code == 1
    assert reports.errors == ["never tried: b, c, d, e; try --work 3300000"]
    assert ran.err == f"channelsim: calpoker: {reports.errors[0]}\n"
    assert not reports.run["invocations"][0]["executionSuccessful"]


def test_a_case_of_a_file_stands_at_its_line(
    reports: Reports, tmp_path: Path, capsys: Capsys
) -> None:
    cases = tmp_path / "cases.jsonl"
    channelsim(capsys, "vectors", "make", "calpoker", "--cases", 5, "-o", cases)
    lines = cases.read_text().splitlines()
    wrong = json.loads(lines[2])
    wrong["expect"] = "raise" if wrong["expect"] != "raise" else "slash"
    lines[2] = json.dumps({key: wrong[key] for key in wrong if key != "next"})
    cases.write_text("\n".join(lines) + "\n")
    ran = channelsim(capsys, "vectors", "check", cases, *reports.options)
    assert ran.code == 1
    assert reports.places == [(str(cases), 3)]
    assert len(reports.failures[str(cases)]) == 1


def test_a_cost_that_rose_is_a_failure(reports: Reports, tmp_path: Path, capsys: Capsys) -> None:
    target, stored = toy(tmp_path), tmp_path / "costs.toml"
    measured = ("cost", target, "--cases", 60)
    assert channelsim(capsys, *measured, "--write", stored).code == 0
    stored.write_text(re.sub(r"most = \d+", "most = 1", stored.read_text(), count=1))
    ran = channelsim(capsys, "cost", target, "--check", stored, *reports.options)
    assert (ran.code, len(reports.failures["cost"])) == (1, 1)
    assert "higher than stored" in reports.failures["cost"][0]


def test_an_interrupted_run_says_so_and_names_the_command_that_resumes(
    reports: Reports, tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command as it stands does the rest, and then both reports are whole."""
    monkeypatch.setattr(crosscheck, "run_shards", _interrupting(run_shards))
    target, folder = toy(tmp_path), tmp_path / "my campaign"
    asked = ("crosscheck", target, "--cases", 12_000, "--jobs", 1, "--out", folder)
    ran = channelsim(capsys, *asked, *reports.options, "--quiet")
    assert ran.code == 130
    (said,) = ran.err.splitlines()
    (resuming,) = reports.errors
    assert resuming.startswith("interrupted: not everything was tried; `channelsim crosscheck ")
    assert not reports.run["invocations"][0]["executionSuccessful"]
    command = said.split("`")[1]
    assert command in resuming
    monkeypatch.undo()
    done: Ran = channelsim(capsys, *shlex.split(command)[1:])
    assert (done.code, done.err) == (0, "")
    assert "12,000 cases" in done.out
    assert reports.errors == []
    assert reports.run["invocations"][0]["executionSuccessful"]


def _interrupting(run: Callable[..., Any]) -> Callable[..., Any]:
    """A campaign's run that a signal ends after its first shard."""

    def interrupted(
        campaign: Any,
        place: Any,
        count: Callable[[ChunkTally], tuple[Counts, Iterable[Finding]]],
    ) -> Any:
        def counted(part: ChunkTally) -> tuple[Counts, Iterable[Finding]]:
            os.kill(os.getpid(), signal.SIGINT)
            return count(part)

        return run(campaign, place, counted)

    return interrupted
