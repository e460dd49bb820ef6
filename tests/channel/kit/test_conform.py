"""`channelsim conform`: every check passes on a right target, and fails on its mistake."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.campaign import Place, Work
from channelsim.channel.campaign.executors import ThisProcess
from channelsim.channel.cli.commands.conform import ConformOptions
from channelsim.channel.cli.option_groups import CampaignOptions
from channelsim.channel.cli.work import conform as conform_command
from channelsim.channel.documents.conform import CheckResult, Status
from channelsim.channel.errors import UsageError
from channelsim.channel.kit import checks
from channelsim.channel.kit import disputes as disputing
from channelsim.channel.kit.checks import CHECKS
from channelsim.channel.kit.conformance import (
    INTERRUPTED,
    ConformanceWork,
    Effort,
    Subject,
    conform,
    conform_configuration,
    failed_check,
    resumed,
)
from channelsim.channel.kit.enforced import ENFORCED
from channelsim.channel.kit.not_reached import not_reached
from channelsim.channel.kit.secrets import SECRETS
from channelsim.channel.kit.testing import Conformance
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.fuzz.fuzz import FuzzReport
from channelsim.channel.lab.mutants.enforcement import Enforcement
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.sweep_campaign import finding_of
from tests.channel.campaign.any_executor import AnyExecutor
from tests.channel.command import channelsim
from tests.channel.lab.fuzzing import searched
from tests.channel.lab.toys import toy

SMALL = Effort(cases=500, seconds=0.3, disputes=1)
OPTIONS = ("--cases", 200, "--seconds", 0.1, "--coverage", 0, "--jobs", 1)


def test_a_right_target_passes_what_can_be_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = (*OPTIONS, "--junit", tmp_path / "j.xml", "--sarif", tmp_path / "s.json")
    ran = channelsim(capsys, "conform", toy(tmp_path), *options, "--json")
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    results = {one["check"]: one["result"] for one in document["checks"]}
    assert list(results) == list(CHECKS)
    unchecked = {name for name, result in results.items() if result == "not checked"}
    assert unchecked == {"rules", ENFORCED, SECRETS, "determinism", "secrecy", "disputes", "proofs"}
    assert {results[name] for name in results.keys() - unchecked} == {"passed"}
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("13", "0", "7")
    assert json.loads((tmp_path / "s.json").read_bytes())["runs"][0]["results"] == []


def test_a_mistake_fails_the_checks_that_see_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = toy(tmp_path, "shares are bound")
    options = (*OPTIONS, "--junit", tmp_path / "j.xml", "--sarif", tmp_path / "s.json")
    ran = channelsim(capsys, "conform", path, *options)
    assert ran.code == 1
    assert ran.out.count("laws, fuzz: unslashable cheat: reveal: ") == 1
    assert ran.out.count("mojos that are its opponent's: an honest move may declare less") == 1
    assert ran.out.count(": unslashable cheat: ") == 1
    assert "{" not in ran.out
    assert ran.out.splitlines()[-1].endswith("; 1 finding (worst: unslashable cheat)")
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert [case.get("name") for case in suite if case.find("failure") is not None] == [
        *("laws", "fuzz")
    ]
    (run,) = json.loads((tmp_path / "s.json").read_bytes())["runs"]
    assert {one["id"] for one in run["tool"]["driver"]["rules"]} == set(CHECKS)
    (one,) = run["results"]
    assert one["ruleId"] == "fuzz"
    (place,) = one["locations"]
    where = place["physicalLocation"]
    assert where["artifactLocation"]["uri"] == str(path.with_name("reveal.clsp"))
    assert where["region"]["startLine"] > 1


@pytest.mark.parametrize(
    ("mistake", "check"),
    [("recorded cases", "vectors"), ("progress", "progress"), ("commitments are bound", "laws")],
)
def test_each_check_finds_its_mistake(mistake: str, check: str, tmp_path: Path) -> None:
    result = CHECKS[check](Subject(load(str(toy(tmp_path, mistake))), SMALL))
    assert result.result is Status.FAILED


def test_code_that_nothing_reaches_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = toy(tmp_path)
    source = tmp_path / "bid.clsp"
    far = "(if (= MOVE (sha256 MOVE)) 1 (> AMOUNT MOVE))"
    source.write_text(source.read_text().replace("(> AMOUNT MOVE)", far))
    target = load(str(path))
    # A fixed amount of work: less would be done on a slow machine in a fixed time.
    result = searched(target, "s", 40_000)
    report = FuzzReport(target, "s", tally=result.tally)
    report.corpus = result.corpus

    def checked(coverage: int) -> CheckResult:
        subject = Subject(target, Effort(coverage=coverage))
        monkeypatch.setattr(Subject, "fuzzed", report)
        return CHECKS["coverage"](subject)

    failed = checked(100)
    assert failed.result is Status.FAILED
    texts = [one.line for one in failed.failures if one.place == "bid"]
    assert re.fullmatch(r"bid: branches reached: \d+ of \d+", texts[0])
    assert any(text.startswith("bid: never reached, in ") and "sha256" in text for text in texts)
    assert checked(20).result is Status.PASSED


def test_what_a_short_search_did_not_trace_is_reached_by_honest_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = load(str(toy(tmp_path)))
    monkeypatch.setattr(Subject, "fuzzed", FuzzReport(target, "s"))
    failures = CHECKS["coverage"](Subject(target, Effort())).failures
    unreached = {failure.line for failure in failures if "branches reached: " in failure.line}
    assert {line.partition(":")[0] for line in unreached} == {*target.present}
    assert not any("branches reached: 0 of" in line for line in unreached)


def test_costs_are_held_against_stored_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, stored = toy(tmp_path), tmp_path / "costs.toml"
    assert channelsim(capsys, "cost", path, "--cases", 30, "--write", stored).code == 0
    target = load(str(path))
    assert CHECKS["cost"](Subject(target, Effort(costs=stored))).failures == ()
    lower = re.sub(r"(commit\]\n(?:.*\n)*?validator = .*most = )\d+", r"\g<1>5", stored.read_text())
    stored.write_text(lower)
    (failure,) = CHECKS["cost"](Subject(target, Effort(costs=stored))).failures
    assert failure.text.startswith("higher than stored: commit validator most: 5 -> ")


def test_broken_promises_are_failures_of_their_check(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load("calpoker")
    scenario = Scenario(("calpoker",), "a seed", "silent", 7)
    totals = SweepTotals(runs=3, idle=1)
    for kind, how in (
        ("secrecy", "a seed is in a batch"),
        ("safety", "an honest move was slashed"),
        ("duty", "it is late"),
    ):
        totals.found.append(finding_of(scenario, BrokenPromise(kind, how)))
    subject = Subject(game, SMALL)
    monkeypatch.setattr(Subject, "disputed", totals)
    command = "channelsim dispute run silent@7 --seed 'a seed' --game calpoker"
    (secret,) = CHECKS["secrecy"](subject).failures
    assert (secret.text, secret.replay) == ("secrecy: a seed is in a batch", command)
    promise, other = CHECKS["disputes"](subject).failures
    assert (promise.text, promise.replay) == ("safety: an honest move was slashed", command)
    assert (other.text, other.replay) == ("duty: it is late", command)
    none = Subject(game, Effort(disputes=0))
    assert CHECKS["disputes"](none).unchecked == "no disputes were asked for"


def test_disputes_try_every_adversary_in_the_middle_or_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disputing, "names", lambda: ("silent", "other-channel"))
    totals = disputing.disputes_of(load("calpoker"), 1, "s").run(Place(ThisProcess)).totals
    assert totals.found == []
    assert totals.runs - totals.idle == 2


@pytest.mark.long
def test_a_session_in_two_processes_is_the_same() -> None:
    assert CHECKS["determinism"](Subject(load("calpoker"), SMALL)).result is Status.PASSED


def test_a_session_that_cannot_be_played_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "HASH_SEEDS", ("1",))
    target = replace(load("calpoker"), name="no-game")
    result = CHECKS["determinism"](Subject(target, SMALL))
    assert result.result is Status.FAILED
    assert "no game is called 'no-game'" in result.failures[0].text


class DeadWorkers(Executor):
    """An executor whose workers end with every call."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor())
        return future


def test_work_that_ends_its_worker_fails_its_checks(tmp_path: Path) -> None:
    """It is done once for all of them."""
    opened = []

    @contextmanager
    def place(_: Work, name: str) -> Iterator[Place]:
        opened.append(name)
        yield Place(lambda: AnyExecutor(DeadWorkers, 1))

    subject = Subject(load(str(toy(tmp_path))), replace(SMALL, cases=1), place)
    first, again = conform(subject, {"laws": CHECKS["laws"], "again": CHECKS["laws"]})
    assert first.result is Status.FAILED
    assert "seed number 0 crashes its worker: 1 case not done" in first.failures[0].text
    assert [one.text for one in again.failures] == [one.text for one in first.failures]
    assert opened == ["crosscheck"]


def test_an_interrupt_ends_the_checks_and_keeps_the_results(tmp_path: Path) -> None:
    def stop(subject: Subject) -> None:
        raise KeyboardInterrupt

    three = {"vectors": CHECKS["vectors"], "laws": stop, "fuzz": CHECKS["fuzz"]}
    results = list(conform(Subject(load(str(toy(tmp_path)))), three))  # type: ignore[arg-type]
    assert [result.result for result in results] == [
        *(Status.PASSED, Status.NOT_CHECKED, Status.NOT_CHECKED)
    ]
    assert [result.unchecked for result in results[1:]] == ["interrupted", "interrupted"]


def test_a_suite_inherits_a_test_for_each_check(tmp_path: Path) -> None:
    class Inherited(Conformance):
        target = str(toy(tmp_path, "shares are bound"))
        effort = SMALL

    suite = Inherited()
    suite.test_conformance("vectors")
    with pytest.raises(pytest.skip.Exception, match="needs rules"):
        suite.test_conformance("rules")
    with pytest.raises(pytest.fail.Exception, match="opponent's: an honest move may declare"):
        suite.test_conformance("laws")

    class Missing(Conformance):
        target = "nothing.toml"

    with pytest.raises(pytest.fail.Exception, match="cannot be read"):
        Missing().test_conformance("vectors")


def test_wrong_use_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for options in (("nothing",), ("calpoker", "--junit", tmp_path / "no" / "j.xml")):
        ran = channelsim(capsys, "conform", *options)
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1
    with pytest.raises(UsageError):
        CHECKS["cost"](Subject(load("calpoker"), Effort(costs=tmp_path / "no.toml")))


def test_checks_that_were_made_are_not_made_again(tmp_path: Path) -> None:
    subject = Subject(load("calpoker"), SMALL)
    made = conform_configuration(subject.target, SMALL)
    calls: list[str] = []

    def made_by(name: str, _: Subject) -> CheckResult:
        calls.append(name)
        if calls == ["first", "second"]:
            raise KeyboardInterrupt
        return CheckResult(name, failures=(failed_check(name, "it is wrong", "a", "a.clsp:3"),))

    checks = {name: partial(made_by, name) for name in ("first", "second")}
    plan = ConformanceWork(made, len(checks)).plan
    results = []
    for resume in (False, True):
        with directory.opened(tmp_path, made, plan, "checks", resume=resume) as stored:
            results.append(list(conform(subject, resumed(checks, plan, stored))))
    assert calls == ["first", "second", "second"]
    assert [one.unchecked for one in results[0]] == ["", INTERRUPTED]
    assert results[1] == [made_by(name, subject) for name in checks]
    other = conform_configuration(subject.target, replace(SMALL, cases=SMALL.cases + 1))
    wrong = directory.opened(tmp_path, other, plan, "checks", resume=True)
    with pytest.raises(UsageError, match="cases"), wrong:
        pass


def test_what_was_not_reached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject(load(str(toy(tmp_path, hands=12))), replace(SMALL, cases=600))
    assert not_reached(subject) == []
    tally = LabTally(outcomes={"a": Counter(valid=3), "b": Counter(slash=1)}, unreached=2)
    report = FuzzReport(load("calpoker"), "s", tally=tally)
    for name in ("crosschecked", "fuzzed"):
        monkeypatch.setattr(Subject, name, report)
    monkeypatch.setattr(Subject, "enforced", Enforcement(0, 0, (), {"d": 4}))
    monkeypatch.setattr(Subject, "broken_rules", {"CP-A-1"})
    lines = not_reached(Subject(load("calpoker"), SMALL))
    rules, legal, slashed, laws, dropped, withheld, hidden = lines
    assert rules.startswith("rules that no case broke: CP-TERMS-1, ")
    assert "CP-A-1" not in rules
    assert legal == "validators that found no move legal: b, c, d, e"
    assert slashed == "validators that slashed no move: a, c, d, e"
    assert laws.startswith("laws that were never tried: verdicts agree")
    assert dropped == "tests of rules that were never dropped: 4 of d"
    assert withheld.startswith("4 cases on which rules and program differ, in states that no play")
    assert hidden.startswith("illegal values behind the commitments that c, e open, but for random")


def test_each_row_is_printed_as_soon_as_its_check_is_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def first(subject: Subject) -> CheckResult:
        """Note what is printed before it is done: nothing."""
        seen.append(capsys.readouterr().out)
        return CheckResult("first", "much")

    def second(subject: Subject) -> CheckResult:
        """Note what is printed after the first one."""
        seen.append(capsys.readouterr().out)
        return CheckResult("second", unchecked="a long reason " * 3)

    monkeypatch.setattr(conform_command, "CHECKS", {"first": first, "second": second})
    monkeypatch.setattr(conform_command, "not_reached", lambda subject: ["the moon"])
    monkeypatch.setenv("COLUMNS", "52")
    quiet = ConformOptions(target=str(toy(tmp_path)), campaign=CampaignOptions(quiet=True))
    assert conform_command.conform_target(quiet) == 0
    assert seen[0] == ""
    assert [line.split() for line in seen[1].splitlines()[:2]] == [
        *(["what", "a", "toy", "owes"], ["check", "result", "tried"])
    ]
    assert seen[1].splitlines()[3].split() == ["first", "passed", "much"]
    assert capsys.readouterr().out.splitlines() == [
        "second  not checked  a long reason a long reason a",
        "                     long reason",
        "not reached: the moon",
        "1 passed, 0 failed, 1 not checked; 0 findings",
    ]
    monkeypatch.setenv("COLUMNS", "30")
    conform_command.conform_target(quiet)
    assert "first\n  result passed  tried much\n" in "".join(seen[2:])
