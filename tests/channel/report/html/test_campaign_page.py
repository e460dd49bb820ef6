"""The page of a campaign: from its folder, and from the documents of commands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.campaign.directory import opened
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.shards import Configuration, Plan
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.documents.document_files import formats, read_document
from channelsim.channel.documents.results import LostWork, Results
from channelsim.channel.findings.finding import FORMAT, MOVER, OPPONENT, SEVERITIES, Loss
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.lab.coverage.coverage import SampledCoverage
from channelsim.channel.simulation.sweep import Cell
from channelsim.clsp.analysis.tracer import CoverageCounts
from tests.browser import by_id, parsed, text_of
from tests.channel.command import channelsim
from tests.channel.written_documents import (
    EVERY,
    conform,
    cost,
    crosscheck,
    disputes,
    mutants,
    survivor,
    text,
)
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
    done_at_last = crosscheck(
        coverage={"e": SampledCoverage(3, CoverageCounts(9, 8, 4, 2))},
        outcomes={"e": {"valid": 100, "slash": 200}},
        findings=(finding(),),
    )
    with opened(folder, configuration, plan, "cases", resume=False) as directory:
        for done, paths in enumerate((5, 8, 10), 1):
            counts = {"findings": 1, "paths": paths}
            directory.note(CampaignStatus(done, 3, 100 * done, 300, 0, 1.0, counts))
        FindingFiles(directory.findings).write([finding("a loss", "theft")])
        running = text_of(page(capsys, folder))
        directory.write_summary(done_at_last)
    assert "300 of 300 cases so far; 1 finding (worst: theft)" in running
    shown = page(capsys, folder)
    assert f"Crosscheck of {HOSTILE}" in text_of(shown.find(".//h1"))
    assert "finished; 1 finding (worst: theft)" in text_of(shown)
    # The plan of a hunt may be an upper bound: only while it runs is it a goal.
    assert "work done300 of 300 cases" in "".join(running.splitlines())
    assert "300 of" not in text_of(shown)
    assert rows(shown, "Findings") == {"A loss": ["theft", "e", "0", "1"]}
    assert rows(shown, "Coverage by validator") == {"e": ["8 of 9", "2 of 4"]}
    assert rows(shown, "Outcomes") == {"e": ["100", "200"]}
    lines = {
        text_of(one.find("figcaption")): one.find(".//{*}polyline").get("points")
        for one in shown.iter("figure")
    }
    # Of the findings there is no chart: their number is the same all the time.
    assert lines == {
        "paths: 10": "0,90 106.7,45.0 213.3,18.0 320.0,0.0",
    }


def test_findings_link_to_their_sections(tmp_path: Path, capsys: Capsys) -> None:
    vector = {"validator": "e", "move": HOSTILE, "state": [HOSTILE, 1]}
    loss = Loss(MOVER, OPPONENT, 7)
    findings = (
        finding("a delay", "griefing", vector=vector),
        finding(HOSTILE, "theft", cause=HOSTILE, loss=loss, vector=vector),
    )
    file = tmp_path / "printed.json"
    file.write_text(text(crosscheck(target=HOSTILE, findings=findings)))
    shown = page(capsys, file)
    assert list(shown.iter("script")) == []
    stolen = f"The mover takes 7 mojos that are its opponent's: e, {HOSTILE}"
    assert list(rows(shown, "Findings")) == [stolen, "A delay"]
    alone = tmp_path / "alone.json"
    alone.write_bytes(msgspec.json.encode(findings[1]))
    assert HOSTILE in text_of(page(capsys, alone))
    for number, words in ((1, stolen), (2, "A delay")):
        (link,) = (one for one in shown.iter("a") if one.get("href") == f"#finding-{number}")
        assert text_of(link) == words
        assert words in text_of(by_id(shown, f"finding-{number}"))


def test_mutants_costs_checks_and_disputes_have_tables(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"

    def shown(document: Results) -> Any:
        file.write_text(text(document))
        return page(capsys, file)

    hunted = shown(mutants(survivor()))
    assert rows(hunted, "Mutants by validator") == {"e": ["3 of 4", "0", "0", "1"]}
    assert rows(hunted, "Mutants that nothing noticed")["e"][3:5] == ["1", "2"]
    costs = shown(cost())
    assert rows(costs, "Costs against the block") == {"e slash": ["11,000,000", "0.10%"]}
    assert list(rows(costs, "Whole bundles")) == ["e move"]
    texts = (HOSTILE, *(f"{HOSTILE} {number}" for number in range(2)), "x", "y", "x")
    wrong = CheckResult("laws", "", tuple(finding(text, "griefing") for text in texts))
    same = CheckResult("vectors", "", (finding(HOSTILE, "griefing"),) * 5)
    conformed = shown(conform(wrong, same, CheckResult("rules", "9 cases")))
    checks = rows(conformed, "Checks")
    assert checks["laws"][-1] == f"{HOSTILE}{HOSTILE} 0{HOSTILE} 1and 3 more"
    assert checks["vectors"][-1] == f"{HOSTILE} (5 times)"
    assert (checks["laws"][0], checks["rules"][0]) == ("✗ failed", "✓ passed")
    # Each failure leads to its case and its line.
    (cell,) = (row[3] for row in conformed.iter("tr") if text_of(row[0]) == "laws")
    for link in cell.iter("a"):
        assert HOSTILE in text_of(by_id(conformed, link.get("href")[1:]))
    assert len(list(cell.iter("a"))) == 3
    cell = Cell(2, 1, Counter(slashed=2))
    late = finding("duty: late", scenario={"seed": "s7"})
    disputed = shown(disputes(matrix={"silent": {"flop": cell, "turn": cell}}, findings=(late,)))
    assert list(rows(disputed, "Findings")) == ["Duty: late"]
    assert "s7" in text_of(by_id(disputed, "finding-1"))
    assert rows(disputed, "Disputes") == {"silent": ["4", "✗ 2", "slashed 4"]}
    header = text_of(disputed.find(".//header"))
    assert header.startswith("Disputes with every adversary ✗ failed finished; 1 finding")


@pytest.mark.parametrize("command", EVERY)
def test_every_page_counts_all_its_findings(command: str, tmp_path: Path, capsys: Capsys) -> None:
    """In its heading, in the table, and in the document itself."""
    assert {type(one) for one in EVERY.values()} == set(formats().values())
    document = EVERY[command]
    file = tmp_path / "printed.json"
    file.write_text(text(document, summary="0 findings"))
    assert read_document(file) == document
    shown = page(capsys, file)
    count = len(document.every_finding())
    assert document.summary in text_of(shown.find(".//header"))
    assert document.summary.startswith(f"{count} finding")
    if count:
        (section,) = (one for one in shown.iter("section") if text_of(one[0]) == "Findings")
        assert len(list(section.find(".//tbody"))) == count
    assert "None" not in text_of(shown.find(".//header"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"coverage": {"e": {"fingerprints": "many"}}}, "key `coverage"),
        ({"findings": [{"loss": []}]}, "key `findings.0.loss`"),
        ({"format": FORMAT, "rule": "", "vector": {}}, "no finding: "),
        ({"findings": "none"}, "key `findings`: "),
        ({"validators": [1]}, "unknown key `validators`"),
        ({"format": None}, "has no `format`"),
        ({"format": "channelsim document crosscheck 0"}, "a document of another version"),
        (
            {"format": "channelsim document faults 1"},
            "of a command that this version does not read",
        ),
    ],
)
def test_a_document_of_another_shape_is_one_line(
    written: Any, said: str, tmp_path: Path, capsys: Capsys
) -> None:
    file = tmp_path / "printed.json"
    file.write_text(text(crosscheck(), **written))
    ran = channelsim(capsys, "report", file, "-o", "-")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert str(file) in ran.err
    assert said in ran.err
    ran = channelsim(capsys, "report", tmp_path, "-o", "-")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_work_that_was_not_done_is_no_success(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    file.write_text(text(crosscheck(lost=(LostWork(3, 1500),))))
    shown = page(capsys, file)
    assert rows(shown, "Seeds that crashed their worker") == {"3": ["1,500"]}
    assert "✗ failed not complete: 1 seed could not be done; 0 findings" in text_of(shown)
    file.write_text(text(crosscheck()))
    assert "✓ passed finished; 0 findings" in text_of(page(capsys, file))


def test_a_summary_shows_findings_whose_files_are_gone(tmp_path: Path, capsys: Capsys) -> None:
    configuration = Configuration("crosscheck", "0", "e", "7", {}, {})
    plan = Plan(configuration.digest, 1, 1)
    with opened(tmp_path / "c", configuration, plan, "cases", resume=False) as directory:
        directory.write_summary(crosscheck(findings=(finding(),)))
    assert list(rows(page(capsys, tmp_path / "c"), "Findings")) == ["A loss"]


def test_figures_that_nobody_counted_are_refused(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    for document in ({"outcomes": {"e": {"valid": -1}}}, {"most_cost": {"e": 1 << 63}}):
        file.write_text(text(crosscheck(), **document))
        ran = channelsim(capsys, "report", file, "-o", "-")
        assert ran.code == 2
        assert "Expected `int`" in ran.err


def test_an_interrupted_campaign_neither_passed_nor_failed(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    file.write_text(text(crosscheck(interrupted=True)))
    header = text_of(page(capsys, file).find(".//header"))
    assert "… not finished interrupted; 0 findings" in header
    assert "go on with --resume" in header
    file.write_text(text(crosscheck(interrupted=True, findings=(finding(),))))
    assert "✗ failed interrupted; 1 finding" in text_of(page(capsys, file).find(".//header"))


def test_severities_have_a_colour_and_a_word(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    file.write_text(text(crosscheck(findings=tuple(finding(one, one) for one in SEVERITIES))))
    shown = page(capsys, file)
    chips = {
        text_of(one): one.get("class").split()[-1]
        for one in shown.iter("span")
        if "severity" in one.get("class", "")
    }
    assert list(chips) == list(SEVERITIES)
    assert chips["theft"] == "worst"
    assert chips["griefing"] == "bad"
    assert chips["disagreement"] == "mild"


def test_all_failures_of_one_mistake_lead_to_its_section(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "printed.json"
    small, large = (finding("it pays", cause="E-1", loss=Loss("Alice", "Bob", n)) for n in (1, 9))
    results = (CheckResult("rules", "", (small,)), CheckResult("fuzz", "", (large,)))
    file.write_text(text(conform(*results)))
    shown = page(capsys, file)
    checks = next(node for node in shown.iter("section") if text_of(node.find("h2")) == "Checks")
    assert [link.get("href") for link in checks.iter("a")] == ["#finding-1", "#finding-1"]
    assert len([node for node in shown.iter("section") if node.get("class") == "finding"]) == 1
