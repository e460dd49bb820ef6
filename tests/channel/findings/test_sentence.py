"""The sentence of a finding: who takes what from whom, and why nobody can stop it."""

from __future__ import annotations

import re

import msgspec
import pytest

from channelsim.channel.documents.results import Results
from channelsim.channel.findings.finding import MOVER, OPPONENT, SEVERITIES, Loss
from channelsim.channel.findings.sentence import headline, lost, sentence
from tests.channel.written_documents import EVERY, crosscheck
from tests.channel.written_findings import finding


def test_a_loss_names_both_sides_and_the_mojos() -> None:
    theft = finding("its slash fails", loss=Loss(MOVER, OPPONENT, 1200))
    assert sentence(theft) == "The mover takes 1,200 mojos that are its opponent's: its slash fails"
    assert lost(theft) == "The mover's opponent loses 1,200 mojos to the mover"
    assert theft.line == f"theft: e: {sentence(theft)}"


@pytest.mark.parametrize("severity", SEVERITIES)
def test_every_severity_says_what_it_means(severity: str) -> None:
    said = sentence(finding("a text", severity))
    assert said.endswith("a text")
    # A failed check is its text; everything else also says who is worse off by it.
    assert (said == "a text") is (severity == "failed check")
    assert re.match("[A-Za-z]", lost(finding("a text", severity)))


def test_what_is_added_on_the_case_is_not_in_the_headline() -> None:
    long = finding("it is accepted (a rule). In the case shown much is lost.", "griefing")
    assert headline(long).endswith("it is accepted (a rule)")


@pytest.mark.parametrize("command", EVERY)
def test_a_document_says_its_worst_finding_as_a_sentence(command: str) -> None:
    document: Results = EVERY[command]
    found = document.every_finding()
    worst = {headline(one) for one in found}
    assert document.worst in worst if found else document.worst == ""


def test_the_worst_is_the_greatest_loss_of_the_worst_severity() -> None:
    small, large = (finding("a", loss=Loss("Alice", "Bob", mojos)) for mojos in (1, 2))
    document = crosscheck(findings=(finding("b", "griefing"), small, large))
    assert document.worst == "Alice takes 2 mojos that are Bob's: a"
    assert msgspec.json.decode(msgspec.json.encode(document))["worst"] == document.worst
