"""Every checking command counts its findings once, and says the same in all its outputs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.sweep_campaign import Sweep, SweepReport, finding_of
from tests.browser import parsed, text_of
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy
from tests.sampling import one_in

Capsys = pytest.CaptureFixture[str]

CHEAT = "shares are bound"
"""A mistake that takes money, and on which no rules could disagree with the program."""

COMMANDS = {
    "crosscheck": ("--cases", 600, "--jobs", 1),
    "fuzz": ("--work", 100_000, "--jobs", 1),
    "conform": ("--cases", 300, "--seconds", 0.2, "--jobs", 1),
}


def sentence_in(text: str) -> str:
    """The one sentence that counts findings."""
    (found,) = re.findall(r"\d+ findings?(?: \(worst: [a-z ]+\))?", text)
    return str(found)


def rows_of_findings(page: str) -> int:
    document = parsed(page)
    tables = (node for node in document.iter("section") if text_of(node.find("h2")) == "Findings")
    return sum(len(list(body.iter("tr"))) for table in tables for body in table.iter("tbody"))


@pytest.mark.parametrize("command", one_in(3, COMMANDS))
def test_a_cheat_is_counted_and_named_in_every_output(
    command: str, tmp_path: Path, capsys: Capsys
) -> None:
    target, folder, suite = toy(tmp_path, CHEAT), tmp_path / "campaign", tmp_path / "j.xml"
    junit = ("--junit", suite, "--out", folder)
    ran = channelsim(capsys, command, target, *COMMANDS[command], *junit)
    assert ran.code == 1
    count = sentence_in(ran.out.splitlines()[-1])
    assert count.endswith("(worst: unslashable cheat)")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["summary"] == count
    (named,) = ElementTree.parse(suite).getroot().iter("property")
    assert (named.get("name"), named.get("value")) == ("summary", count)
    for shown in (folder, folder / "summary.json"):
        page = channelsim(capsys, "report", shown, "-o", "-").out
        header = text_of(parsed(page).find(".//header"))
        assert sentence_in(header) == count
        assert count.startswith(f"{rows_of_findings(page)} finding")
        assert "None" not in header
    last = (folder / "progress.jsonl").read_text().splitlines()[-1]
    assert count.startswith(f"{json.loads(last)['counts']['findings']} finding")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=[pytest.mark.long] * (command == "conform"))
        for command in COMMANDS
    ],
)
def test_nothing_found_is_said_with_the_same_words(
    command: str, tmp_path: Path, capsys: Capsys
) -> None:
    ran = channelsim(capsys, command, toy(tmp_path), *COMMANDS[command], "--out", tmp_path / "c")
    if command != "conform":  # its toy has code that so few cases do not reach
        assert sentence_in(ran.out.splitlines()[-1]) == "0 findings"
    page = channelsim(capsys, "report", tmp_path / "c", "-o", "-").out
    shown = sentence_in(text_of(parsed(page).find(".//header")))
    assert shown == sentence_in(ran.out.splitlines()[-1])


def test_disputes_are_counted_by_mistake(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many runs with the same mistake are one finding, in the last line and in the document."""
    broken = [
        finding_of(Scenario(("calpoker",), seed, "dead", 3), BrokenPromise(promise, "planted"))
        for seed in "abc"
        for promise in ("duty", "money")
    ]
    report = SweepReport(SweepTotals(runs=3, found=broken))
    monkeypatch.setattr(Sweep, "run", lambda self, place: report)
    document = json.loads(channelsim(capsys, "dispute", "run", "--all").out)
    assert document["summary"] == "2 findings (worst: theft)"
    assert [one["times"] for one in document["findings"]] == [3, 3]
    file = tmp_path / "all.json"
    file.write_text(json.dumps(document))
    page = channelsim(capsys, "report", file, "-o", "-").out
    assert sentence_in(text_of(parsed(page).find(".//header"))) == document["summary"]
    assert rows_of_findings(page) == 2
