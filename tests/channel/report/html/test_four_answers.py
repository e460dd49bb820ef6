"""A reader who has only the page answers: did it hold, what happened, who lost how much, what next.

The answers are read from the HTML as a reader without JavaScript sees it, and compared with the
JSON of the same stored result. Each page also has its tables there, and keys reach all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, PackageLoader

from channelsim.channel.attack.monitors import Monitors, Violation
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.findings.finding import MOVER, NOBODY, OPPONENT, Loss
from channelsim.channel.lab.coverage.coverage import corpus_coverage
from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.report.html import page as html_page
from channelsim.channel.report.html.coverage_page import coverage_html
from channelsim.games import registry
from tests.browser import parsed, text_of, without_scripts
from tests.channel.command import channelsim
from tests.channel.written_documents import (
    attack,
    conform,
    cost,
    coverage,
    crashed_run,
    crashes,
    crosscheck,
    disputes,
    explored,
    fuzz,
    mutants,
    proof,
    prove,
    survivor,
    text,
)
from tests.channel.written_findings import finding, written
from tests.sampling import one_in

Capsys = pytest.CaptureFixture[str]

VERDICTS = {"✓ passed": True, "✗ failed": False, "… not finished": None}


@dataclass(frozen=True)
class Answers:
    """What a page says at its beginning; `holds` is None where it is not done yet."""

    holds: bool | None
    happened: str
    loss: str
    next: str


@dataclass(frozen=True)
class Stored:
    """A stored result: its JSON, and the file that there is a page of."""

    data: dict[str, Any]
    file: Path


def read(html: str) -> Answers:
    """Read the answers from a page, without its scripts."""
    document = without_scripts(html)
    header = document.find(".//header")
    verdict = next(node for node in header.iter("p") if "verdict" in node.get("class", ""))
    told = [text_of(node) for node in document.iter("p") if node.get("class") in ("done", "story")]
    answers = {text_of(pair.find("dt")): text_of(pair.find("dd")) for pair in header.iter("div")}
    return Answers(
        VERDICTS[text_of(verdict.find("span"))],
        " ".join((text_of(verdict), *told)),
        answers["Loss"],
        answers["Next"],
    )


NATIVE = {"button", "input", "select", "textarea", "summary"}
"""Elements that keys reach and operate by themselves."""


def check_without_scripts(html: str) -> None:
    """The page has tables without scripts, and can be operated by keys alone."""
    document = without_scripts(html)
    assert next(document.iter("table"), None) is not None
    assert not [text_of(button) for button in document.iter("button")], "they need the script"
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


# --- the facts, from the JSON alone ---------------------------------------------------------------


def session_facts(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    put = data["coins"]["channel"]["amount"] // 2
    yield "happened", f"played {len(data['hands'])} hand"
    yield from money_facts(data["balances"], dict.fromkeys(data["balances"], put))
    yield "next", "nothing to do"


def dispute_facts(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    put = [int(re.findall("put in ([0-9]+)", line)[0]) for line in data["account"][:2]]
    for name, paid in zip(("initiator", "receiver"), put, strict=True):
        assert name in data["account"][("initiator", "receiver").index(name)].lower()
        assert paid
    opened = any(data["got"].values())
    if opened:
        yield from money_facts(data["got"], dict(zip(data["got"], put, strict=True)))
    else:
        yield "happened", "No channel was opened"
        yield "loss", "nobody lost anything"
    (adversary,) = (action["name"] for action in data["scenario"]["actions"] if "name" in action)
    yield "happened", adversary
    for broken in data["broken_promises"]:
        yield "happened", broken["how"] if isinstance(broken, dict) else broken.split(": ")[-1]
    yield "next", f"channelsim dispute run {adversary}"


def money_facts(got: dict[str, int], put: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Who got how much, and who lost how much to whom."""
    for name, mojos in got.items():
        yield "happened", f"{name.title()} got {mojos:,} mojos"
        if mojos < put[name]:
            other = next(each for each in got if each != name)
            yield "loss", f"{name.title()} lost"
            yield "loss", f"{put[name] - mojos:,} mojos"
            yield "loss", f"to {other.title()}"
    if got == put:
        yield "loss", "nobody lost anything"


def finding_facts(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "happened", data["text"]
    yield from loss_facts(data["loss"])
    yield "next", "channelsim trace"


WORK = ("kills", "sessions", "runs", "cases", "disagreements", "states", "searches")
"""The figures of documents that the sentence on what the command did has."""


def document_facts(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "happened", data["summary"]
    yield "happened", data["worst"]
    yield from (("happened", f"{data[name]:,} ") for name in WORK if name in data)
    listed = data.get("findings") or [
        failure for check in data.get("checks", ()) for failure in check["failures"]
    ]
    losses = [found["loss"] for found in listed if found["loss"] is not None]
    yield from loss_facts(max(losses, key=lambda loss: loss["amount"], default=None))
    if data["worst"]:
        yield "next", "begin with the first finding"
    else:
        yield "next", "--resume" if data["interrupted"] else "nothing to do"


def loss_facts(loss: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    if loss is None:
        yield "loss", "nobody is known to lose money"
        return
    taker = loss["taker"] or "nobody has them"
    for part in (f"loses {loss['amount']:,} mojos", taker, loss["loser"].removeprefix("its ")[1:]):
        yield "loss", part


# --- the stored results ---------------------------------------------------------------------------


def played(capsys: Capsys, folder: Path, *command: object) -> Stored:
    """A session or dispute: what it printed as JSON, and its transcript."""
    file = folder / "run.jsonl"
    ran = channelsim(capsys, *command, "--json", "--transcript", file)
    return Stored(json.loads(ran.out), file)


def stored(folder: Path, written_text: str) -> Stored:
    """A finding or a document in a file."""
    file = folder / "stored.json"
    file.write_text(written_text)
    return Stored(json.loads(written_text), file)


def is_sound(data: dict[str, Any]) -> bool:
    return bool(data["checks"]["python_clvm_agree"] and data["checks"]["conserved"])


def is_kept(data: dict[str, Any]) -> bool:
    return bool(data["deviated"]) and not data["broken_promises"]


THEFT = finding("its slash fails", loss=Loss(MOVER, OPPONENT, 12345))
DELAY = finding("nobody can go on", "griefing")

SESSIONS: dict[str, tuple[object, ...]] = {
    "one hand": ("play", "calpoker", "--hands", 1, "--seed", 3),
    "three hands": ("play", "spacepoker", "--hands", 3, "--seed", 7),
}
DISPUTES: dict[str, tuple[object, ...]] = {
    "an old state": ("stale-oldest@9", "--weather", "reorgs"),
    "an illegal move": ("wrong-commitment@5", "--game", "calpoker"),
    "no channel": ("breaks-ch-open-5@0",),
    "nothing to change": ("dead@20",),
}
COMPARED = [{"part": "verdict", "expected": "slash", "actual": "valid"}]
FINDINGS = {
    "a theft": written(
        text="its slash fails",
        loss={"taker": "Alice", "loser": "Bob", "amount": 9000},
        compared=COMPARED,
    ),
    "a delay": written(text="nobody can go on", severity="griefing", compared=COMPARED),
}
DOCUMENTS = {
    "crosscheck with thefts": text(crosscheck(findings=(DELAY, THEFT))),
    "crosscheck without findings": text(crosscheck(tried={"cost": 3})),
    "fuzz, interrupted": text(fuzz(interrupted=True, tried={"cost": 3})),
    "conform": text(
        conform(CheckResult("rules", "9 cases", (THEFT,)), CheckResult("cost", "1 run"))
    ),
    "mutants": text(mutants(survivor())),
    "disputes": text(disputes(findings=(finding("duty: late", "broken promise"),))),
    "disputes with a theft": text(
        disputes(findings=(finding("money: gone", loss=Loss("Receiver", "Initiator", 1500)),))
    ),
    "crash-test": text(crashes(crashed_run())),
    "crash-test without findings": text(crashes()),
    "prove, a counterexample": text(prove(proof(verdict="different"), findings=(THEFT,))),
    "prove, proved": text(prove()),
    "cost": text(cost()),
    "coverage with a case that ends otherwise": text(coverage()),
    "attack": text(attack(findings=(finding("it cannot settle", "broken promise"),))),
    "attack with a theft": text(attack(findings=(THEFT,))),
    "attack without findings": text(attack(broken_promises=0)),
    "explore": text(explored(findings=(finding("it cannot settle", "broken promise"),))),
    "explore without findings": text(explored(broken_promises=0)),
    "fuzz, mojos that nobody has": text(
        fuzz(findings=(finding("it is locked", loss=Loss(NOBODY, "Bob", 2500)),))
    ),
}
UNSOUND = {
    "prove, undecided": text(prove(proof(verdict="undecided"))),
}
"""Documents without findings of which a table shows that not all is as it should be."""


def check(capsys: Capsys, result: Stored, holds: bool | None, facts: Callable[..., Any]) -> Any:
    """Check the page of a stored result: what is in it without scripts."""
    ran = channelsim(capsys, "report", result.file, "-o", "-")
    assert ran.code == 0
    answers = read(ran.out)
    assert answers.holds is holds
    for question, fact in facts(result.data):
        assert fact in getattr(answers, question), (question, fact, answers)
    check_without_scripts(ran.out)
    return without_scripts(ran.out)


def check_story(document: Any) -> None:
    """A session's page has its story, its hands and its coins."""
    headings = {text_of(node) for node in document.iter("h2")}
    assert {"What happened", "Hands", "Coins"} <= headings
    assert "Hand 1: California Poker" in text_of(document)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_answers(name: str, tmp_path: Path, capsys: Capsys) -> None:
    result = played(capsys, tmp_path, *SESSIONS[name])
    document = check(capsys, result, is_sound(result.data), session_facts)
    if name == "one hand":
        check_story(document)


@pytest.mark.parametrize("name", one_in(2, DISPUTES))
def test_a_dispute_answers(name: str, tmp_path: Path, capsys: Capsys) -> None:
    result = played(capsys, tmp_path, "dispute", "run", *DISPUTES[name])
    assert is_kept(result.data) is (name != "nothing to change")
    document = check(capsys, result, is_kept(result.data), dispute_facts)
    if name == "an illegal move":
        check_story(document)


def test_a_broken_promise_answers(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = "to the initiator: 1500 mojos were planted elsewhere"
    at_the_end = Monitors.at_the_end

    def planted(self: Monitors, *given: Any) -> None:
        at_the_end(self, *given)
        self.add(Violation("promise", how, "money"))

    monkeypatch.setattr(Monitors, "at_the_end", planted)
    result = played(capsys, tmp_path, "dispute", "run", "stale-oldest@9")
    assert not is_kept(result.data)
    ran = channelsim(capsys, "report", result.file, "-o", "-")
    answers = read(ran.out)
    assert answers.holds is False
    assert (
        "1 promise to Initiator was broken: 1,500 mojos were planted elsewhere" in answers.happened
    )
    assert "with a promise broken" in answers.loss
    assert "try the dispute again after a change" in answers.next


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_answers(name: str, tmp_path: Path, capsys: Capsys) -> None:
    check(capsys, stored(tmp_path, FINDINGS[name]), False, finding_facts)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_answers(name: str, tmp_path: Path, capsys: Capsys) -> None:
    result = stored(tmp_path, DOCUMENTS[name])
    holds = False if result.data["worst"] else None if result.data["interrupted"] else True
    check(capsys, result, holds, document_facts)


@pytest.mark.parametrize("name", UNSOUND)
def test_a_document_without_findings_answers(name: str, tmp_path: Path, capsys: Capsys) -> None:
    result = stored(tmp_path, UNSOUND[name])
    ran = channelsim(capsys, "report", result.file, "-o", "-")
    answers = read(ran.out)
    assert answers.holds is False
    assert answers.loss == "nobody is known to lose money"
    assert "see the tables below" in answers.next


def test_an_old_copy_answers(tmp_path: Path, capsys: Capsys) -> None:
    result = played(capsys, tmp_path, "dispute", "run", "--old-copy", 20, "--game", "calpoker")
    ran = channelsim(capsys, "report", result.file, "-o", "-")
    answers = read(ran.out)
    assert answers.holds is True
    assert "an older copy of its files" in ran.out
    assert "every monitor holds" in answers.happened


PLANTED = {
    "holds": ('"good": "✓ passed", "bad": "✗ failed"', '"bad": "✓ passed", "good": "✗ failed"'),
    "happened": ("</span> {{ answers.verdict|with_code }}", "</span> it ended"),
    "loss": ("<dd>{{ answers.loss }}", "<dd>nobody knows"),
    "next": (
        "{{ answers.next|with_code }}{% for command in answers.commands %}",
        "{% for command in () %}",
    ),
}
"""A mistake of the templates for each answer."""


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Callable[[str], str]]]:
    """Changes of the templates, by name, which end with the test."""
    changes: dict[str, Callable[[str], str]] = {}
    read_source = PackageLoader.get_source

    def get_source(loader: PackageLoader, environment: Environment, name: str) -> Any:
        text, *rest = read_source(loader, environment, name)
        return changes.get(name, str)(text), *rest

    monkeypatch.setattr(PackageLoader, "get_source", get_source)
    html_page._environment.cache_clear()  # noqa: SLF001
    yield changes
    html_page._environment.cache_clear()  # noqa: SLF001


@pytest.mark.parametrize("answer", PLANTED)
def test_a_page_with_a_wrong_answer_is_noticed(
    answer: str, tmp_path: Path, capsys: Capsys, templates: dict[str, Callable[[str], str]]
) -> None:
    right, wrong = PLANTED[answer]
    told = '<p class="(done|story)">.*</p>'
    templates["macros.html"] = lambda text: text.replace(right, wrong)
    if answer == "happened":
        for name in ("campaign.html", "finding_section.html"):
            templates[name] = lambda text: re.sub(told, "", text)
    noticed = "holds" if answer == "holds" else rf"\('{answer}'"
    for holds, written_text, facts in (
        (False, FINDINGS["a theft"], finding_facts),
        (False, DOCUMENTS["attack with a theft"], document_facts),
        (True, DOCUMENTS["explore without findings"], document_facts),
    ):
        with pytest.raises(AssertionError, match=noticed):
            check(capsys, stored(tmp_path, written_text), holds, facts)


@pytest.mark.parametrize(("differs", "holds"), [((), True), (("a: expected slash",), False)])
def test_the_page_of_coverage_answers(differs: tuple[str, ...], holds: bool) -> None:
    programs = corpus_coverage(of_game(registry.get("calpoker")), (), ["e"])
    programs["e"].differs.extend(differs)
    answers = read(coverage_html("calpoker", programs.values()))
    assert answers.holds is holds
    branches = programs["e"].total.branches
    assert f"0 of {branches} branches reached" in answers.happened
    assert answers.loss == "nobody is known to lose money"
    check_without_scripts(coverage_html("calpoker", programs.values()))
    assert ("see the cases below" if differs else "reach the marked code") in answers.next
