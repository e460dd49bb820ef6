"""The page of a campaign: from its folder, and from the documents of commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.campaign.directory import opened
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.shards import Configuration, Plan
from channelsim.channel.findings.finding import FORMAT, MOVER, OPPONENT, Loss
from channelsim.channel.findings.finding_files import FindingFiles
from tests.browser import by_id, parsed, text_of
from tests.channel.command import channelsim
from tests.channel.written_findings import finding

Capsys = pytest.CaptureFixture[str]

HOSTILE = "</script><script>alert(1)</script>"


def page(capsys: Capsys, file: Path) -> Any:
    ran = channelsim(capsys, "report", file, "-o", "-")
    assert (ran.code, ran.err) == (0, "")
    return parsed(ran.out)


def rows(document: Any, title: str) -> dict[str, list[str]]:
    """The rows of the table under this title, by their first cell."""
    (section,) = (node for node in document.iter("section") if text_of(node.find("h2")) == title)
    return {
        text_of(row[0]): [text_of(cell) for cell in row[1:]]
        for body in section.iter("tbody")
        for row in body.iter("tr")
    }


def test_a_folder_shows_its_counts_over_time_and_its_summary(
    tmp_path: Path, capsys: Capsys
) -> None:
    folder = tmp_path / "night"
    configuration = Configuration("crosscheck", "0", HOSTILE, "7", {}, {"cases": 300})
    plan = Plan(configuration.digest, 300, 100)
    reached = {"nodes": 9, "nodes_reached": 8, "branches": 4, "branches_reached": 2}
    summary = {
        "digest": "ab12",
        "coverage": {"e": reached},
        "outcomes": {"e": {"valid": 100, "slash": 200}},
    }
    with opened(folder, configuration, plan, "cases", resume=False) as directory:
        for done, paths in enumerate((5, 8, 10), 1):
            counts = {"findings": 1, "paths": paths}
            directory.note(CampaignStatus(done, 3, 100 * done, 300, 0, 1.0, counts))
        FindingFiles(directory.findings).write([finding("a loss", "theft")])
        running = text_of(page(capsys, folder))
        directory.write_summary(summary)
    assert "300 of 300 cases so far; 1 finding" in running
    shown = page(capsys, folder)
    assert f"crosscheck of {HOSTILE}" in text_of(shown.find(".//h1"))
    assert "finished; 1 finding" in text_of(shown)
    # The plan of a hunt may be an upper bound: only while it runs is it a goal.
    assert "work done300 of 300 cases" in "".join(running.splitlines())
    assert "300 of" not in text_of(shown)
    assert rows(shown, "Findings") == {"a loss": ["theft", "e", "a law", "0", "1"]}
    assert rows(shown, "Coverage by validator") == {"e": ["8 of 9", "2 of 4"]}
    assert rows(shown, "Outcomes") == {"e": ["100", "200"]}
    lines = {
        text_of(one.find("figcaption")): one.find(".//{*}polyline").get("points")
        for one in shown.iter("figure")
    }
    assert lines == {
        "findings: 1": "0,90 106.7,0.0 213.3,0.0 320.0,0.0",
        "paths: 10": "0,90 106.7,45.0 213.3,18.0 320.0,0.0",
    }


def test_findings_link_to_their_sections(tmp_path: Path, capsys: Capsys) -> None:
    vector = {"validator": "e", "move": HOSTILE, "state": [HOSTILE, 1]}
    loss = Loss(MOVER, OPPONENT, 7)
    findings = [
        msgspec.to_builtins(one)
        for one in (
            finding("a delay", "griefing", vector=vector),
            finding(HOSTILE, "theft", cause=HOSTILE, loss=loss, vector=vector),
        )
    ]
    file = tmp_path / "printed.json"
    file.write_text(json.dumps({"target": HOSTILE, "findings": findings, "outcomes": {}}))
    shown = page(capsys, file)
    assert list(shown.iter("script")) == []
    assert list(rows(shown, "Findings")) == [HOSTILE, "a delay"]
    alone = tmp_path / "alone.json"
    alone.write_text(json.dumps(findings[1]))
    assert HOSTILE in text_of(page(capsys, alone))
    for number, text in ((1, HOSTILE), (2, "a delay")):
        (link,) = (one for one in shown.iter("a") if one.get("href") == f"#finding-{number}")
        assert text_of(link) == text
        assert text in text_of(by_id(shown, f"finding-{number}"))


def test_mutants_costs_checks_and_disputes_have_tables(tmp_path: Path, capsys: Capsys) -> None:
    killed = {"made": 4, "killed": 3, "argued": 0, "open": 1}
    cell = {"runs": 2, "broken_promises": 1, "results": {"slashed": 2}}
    wrong = msgspec.to_builtins(finding(HOSTILE, "griefing"))
    late = msgspec.to_builtins(finding("duty: late", scenario={"seed": "s7"}))
    file = tmp_path / "printed.json"
    file.write_text(
        json.dumps(
            {
                "validators": {"e": killed},
                "survivors": [{"validator": "e", "change": "1 for 2"}],
                "most_cost": {"e slash": 11_000_000},
                "checks": [{"check": "laws", "result": "failed", "failures": [wrong] * 5}],
                "findings": [late],
                "matrix": {"silent": {"the flop": cell, "the turn": cell}},
            }
        )
    )
    shown = page(capsys, file)
    assert rows(shown, "Mutants by validator") == {"e": ["3 of 4", "0", "1"]}
    assert rows(shown, "Mutants that nothing noticed") == {"e": ["1 for 2"]}
    assert rows(shown, "Costs against the block") == {"e slash": ["11,000,000", "0.1000%"]}
    assert rows(shown, "Checks")["laws"][-1] == "; ".join(
        [f"griefing: e: {HOSTILE}"] * 3 + ["and 2 more"]
    )
    assert list(rows(shown, "Findings")) == ["duty: late"]
    assert "s7" in text_of(by_id(shown, "finding-1"))
    assert rows(shown, "Disputes") == {"silent": ["4", "2", "slashed 4"]}
    assert text_of(shown.find(".//header")).startswith("Results of a campaign ✗")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"coverage": {"e": {"nodes": "many"}}}, "key `coverage`: "),
        ({"findings": [{"loss": []}]}, "key `findings`: "),
        ({"format": FORMAT, "rule": "", "vector": {}}, "no finding: "),
        ({"findings": "none"}, "key `findings`: "),
        ({"validators": [1]}, "key `validators`: "),
        ({"seed": 1}, "so it has no page"),
        ([1], "not a transcript, a finding or a JSON document"),
    ],
)
def test_a_document_of_another_shape_is_one_line(
    document: Any, said: str, tmp_path: Path, capsys: Capsys
) -> None:
    file = tmp_path / "printed.json"
    file.write_text(json.dumps(document))
    ran = channelsim(capsys, "report", file, "-o", "-")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert str(file) in ran.err
    assert said in ran.err
    ran = channelsim(capsys, "report", tmp_path, "-o", "-")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_work_that_was_not_done_is_no_success(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    file.write_text(json.dumps({"findings": [], "lost": [{"seed": 3, "work": 1500}]}))
    shown = page(capsys, file)
    assert rows(shown, "Seeds that crashed their worker") == {"3": ["1,500"]}
    assert "✗ not complete: 1 seed could not be done; 0 findings" in text_of(shown)
    file.write_text(json.dumps({"findings": [], "lost": []}))
    assert "✓ finished; 0 findings" in text_of(page(capsys, file))


def test_a_summary_shows_findings_whose_files_are_gone(tmp_path: Path, capsys: Capsys) -> None:
    configuration = Configuration("crosscheck", "0", "e", "7", {}, {})
    plan = Plan(configuration.digest, 1, 1)
    with opened(tmp_path / "c", configuration, plan, "cases", resume=False) as directory:
        directory.write_summary({"findings": [msgspec.to_builtins(finding("a loss"))]})
    assert list(rows(page(capsys, tmp_path / "c"), "Findings")) == ["a loss"]


def test_figures_that_nobody_counted_are_refused(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    for document in ({"outcomes": {"e": {"valid": -1}}}, {"most_cost": {"e": 1 << 63}}):
        file.write_text(json.dumps(document))
        ran = channelsim(capsys, "report", file, "-o", "-")
        assert ran.code == 2
        assert "Expected `int`" in ran.err
