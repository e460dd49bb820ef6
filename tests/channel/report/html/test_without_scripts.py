"""Every kind of page without its scripts: story, hands and tables are there, and keys reach all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.findings.finding import MOVER, OPPONENT, Loss
from channelsim.channel.lab.coverage.coverage import corpus_coverage
from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.report.html.coverage_page import coverage_html
from channelsim.channel.simulation.sweep import Cell
from channelsim.games import registry
from tests.browser import parsed, text_of
from tests.channel.command import channelsim
from tests.channel.written_documents import (
    conform,
    cost,
    coverage,
    crashed_run,
    crashes,
    crosscheck,
    disputes,
    fuzz,
    mutants,
    prove,
    survivor,
    text,
)
from tests.channel.written_findings import finding, written

Capsys = pytest.CaptureFixture[str]

THEFT = finding("its slash fails", loss=Loss(MOVER, OPPONENT, 12345))
FILES = {
    "finding": written(compared=[{"part": "verdict", "expected": "slash", "actual": "valid"}]),
    "crosscheck": text(crosscheck(findings=(THEFT,))),
    "fuzz": text(fuzz(findings=(THEFT,))),
    "conform": text(conform(CheckResult("rules", "9 cases", (THEFT,)))),
    "mutants": text(mutants(survivor())),
    "disputes": text(disputes(matrix={"dead": {"batch": Cell(results=Counter(closed=1))}})),
    "crash-test": text(crashes(crashed_run())),
    "prove": text(prove()),
    "cost": text(cost()),
    "coverage": text(coverage()),
}
COMMANDS = {
    "session": ("play", "calpoker", "--hands", 1, "--seed", 3),
    "dispute": ("dispute", "run", "wrong-commitment@5", "--game", "calpoker"),
}
NATIVE = {"button", "input", "select", "textarea", "summary"}
"""Elements that keys reach and operate by themselves."""


def without_scripts(html: str) -> Any:
    """The page as a reader without JavaScript has it: no scripts, nothing that is hidden."""
    document = parsed(html)
    for parent in list(document.iter()):
        for child in list(parent):
            if child.tag == "script" or child.get("hidden") is not None:
                parent.remove(child)
    return document


def check_page(html: str) -> Any:
    """The page without scripts, which answers, has tables, and can be operated by keys alone."""
    document = without_scripts(html)
    assert "verdict" in {node.get("class", "").split(" ")[0] for node in document.iter("p")}
    assert {text_of(node) for node in document.iter("dt")} >= {"Loss", "Next"}
    assert next(document.iter("table"), None) is not None
    for node in parsed(html).iter():
        if not isinstance(node.tag, str):
            continue
        assert not [name for name in dict(node.items()) if name.startswith("on")], node.tag
        assert node.get("tabindex", "0") in {"0", "-1"}
        if node.get("role") in {"button", "link", "slider", "listbox"} and node.tag not in NATIVE:
            assert node.get("tabindex") == "0", node.tag
        if "scroll" in node.get("class", "").split():
            assert node.get("tabindex") == "0"
        if node.tag == "a":
            assert node.get("href")
    assert not [text_of(button) for button in document.iter("button")], "they need the script"
    return document


@pytest.mark.parametrize("kind", FILES)
def test_a_page_of_a_file(kind: str, tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "stored.json"
    file.write_text(FILES[kind])
    ran = channelsim(capsys, "report", file, "-o", "-")
    assert ran.code == 0
    check_page(ran.out)


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_page_of_a_session(kind: str, tmp_path: Path, capsys: Capsys) -> None:
    page = tmp_path / "page.html"
    channelsim(capsys, *COMMANDS[kind], "--report", page)
    document = check_page(page.read_text("utf-8"))
    headings = [text_of(node) for node in document.iter("h2")]
    assert {"What happened", "Hands", "Coins"} <= set(headings)
    assert [node for node in document.iter("p") if node.get("class") == "story"]
    assert "Hand 1: California Poker" in text_of(document)


def test_the_page_of_coverage() -> None:
    target = of_game(registry.get("spacepoker"))
    check_page(coverage_html("spacepoker", corpus_coverage(target, ()).values()))
