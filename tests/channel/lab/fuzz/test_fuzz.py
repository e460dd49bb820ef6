"""The fuzzer: findings are small, reported, stored, tried again, and the same for the same seed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from channelsim.channel.findings.finding import SEVERITIES, Finding, Loss
from channelsim.channel.lab.cases.corpus import site_cases
from channelsim.channel.lab.fuzz.findings import still_broken
from channelsim.channel.lab.fuzz.fuzz import timed_search
from channelsim.channel.lab.fuzz.fuzz_part import FuzzPart
from channelsim.channel.lab.fuzz.grouping import grouped
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.analysis.tracer import Tracer
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, deserialize, serialize
from channelsim.games import registry
from tests.channel.campaign.running import done
from tests.channel.command import channelsim
from tests.channel.lab.broken import ENDLESS, target_file
from tests.channel.lab.fuzzing import searched
from tests.channel.lab.toys import SOURCES, toy
from tests.clsp.test_interpreter import interpreted
from tests.corpus import stored_corpus
from tests.paths import ROOT

WORK = 250_000
SHARE = ("spacepoker/commitA.clsp", "(= MOVER_SHARE (/ AMOUNT 2))", "1")
CARDS = ("spacepoker/end.clsp", "(= (sha256 (substr MOVE 0 16)) mover_image)", "1")


@pytest.fixture(autouse=True)
def _slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaigns in this process end by their work, however busy the machine is."""
    ticks = count(0.0, 1e-6)
    monkeypatch.setattr("channelsim.channel.lab.fuzz.fuzz.perf_counter", lambda: next(ticks))


def campaign(target: Target, seed: str = "s", work: float = WORK) -> FuzzPart:
    return searched(target, seed, work)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return target_file(tmp_path_factory.mktemp("broken"), "spacepoker", SHARE)


@pytest.fixture(scope="module")
def found(broken: Path) -> Finding:
    (one,) = grouped(campaign(load(str(broken))).findings)
    return one


def test_a_finding_says_who_loses_what(found: Finding) -> None:
    assert (found.place, found.severity) == ("commitA", "unslashable cheat")
    assert found.cause == "SP-COMMITA-2"
    assert "With Alice's commitment, Bob's share is his whole stake" in found.text
    assert "Bob loses 1,000" in found.text
    assert found.differs == ("share: 0 instead of 1,000 of 2,000",)
    assert found.fields[1] == 1
    assert any("only the referee's limits stop it" in line for line in found.also)
    assert found.loss == Loss("Alice", "Bob", 1000)
    assert found.line.startswith(
        "unslashable cheat: commitA: Alice takes 1,000 mojos that are Bob's: the program accepts"
    )


@pytest.mark.long
def test_many_fields_become_few(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", CARDS)))
    result = campaign(target, "many")
    cards = [one for one in result.findings if one.cause == "SP-END-2"]
    assert cards
    assert all(one.fields[1] <= 2 for one in cards)
    (first,) = (one for one in grouped(result.findings) if one.cause == "SP-END-2")
    assert SEVERITIES.index(first.severity) <= 1


def test_the_finding_happens_where_it_was_found_and_not_where_it_is_mended(
    found: Finding, broken: Path
) -> None:
    data = msgspec.to_builtins(found)
    assert still_broken(load(str(broken)), data) != []
    assert still_broken(of_game(registry.get("spacepoker")), data) == []


def test_the_test_function_fails_until_it_is_mended(
    found: Finding, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    exec(found.pytest, names)
    (function,) = (value for name, value in names.items() if name.startswith("test_"))
    with pytest.raises(AssertionError):
        function()
    mended = found.pytest.replace(repr(str(broken)), "'spacepoker'")
    names = {}
    exec(mended, names)
    (function,) = (value for name, value in names.items() if name.startswith("test_"))
    function()


def test_another_interpreter_ends_the_raw_run_alike(found: Finding) -> None:
    program, environment = (bytes.fromhex(found.brun[key]) for key in ("program", "environment"))
    value = interpreted(Program(program), deserialize(environment))
    assert value is not None, "the cheat is legal to this program"
    assert found.brun["result"] == f"0x{serialize(value).hex()}"
    assert value != NIL


def test_the_same_seed_finds_the_same(broken: Path) -> None:
    target = load(str(broken))
    one, two = (campaign(target, "x", WORK / 6) for _ in range(2))
    assert (one.runs, one.findings, one.tally) == (two.runs, two.findings, two.tally)
    assert one.coverage == two.coverage
    assert campaign(target, "y", WORK / 6).tally != one.tally


@pytest.mark.long
def test_two_processes_find_the_same_twice(broken: Path) -> None:
    target = load(str(broken))
    one, two = (done(timed_search(target, "s", 0.2, 2, None), 2) for _ in range(2))
    assert one.findings == two.findings != []
    if not one.stopped and not two.stopped:
        assert one.runs == two.runs


@pytest.mark.long
@pytest.mark.parametrize("game", ["calpoker", "spacepoker"])
def test_a_short_campaign_over_the_stored_corpus(game: str) -> None:
    target = of_game(registry.get(game))
    stored = site_cases(target, stored_corpus(game))
    assert {probe.site.validator for probe in stored} == set(target.programs)
    result = searched(target, "ours", 3 * WORK, stored)
    assert result.findings == []
    assert result.runs > 4000
    for name, program in target.programs.items():
        tracer = Tracer(program)
        assert result.coverage[name].counts(tracer).whole


# --- the command ------------------------------------------------------------------------------


def test_the_command_keeps_what_it_finds_and_tries_it_first(
    broken: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = channelsim(
        *(capsys, "fuzz", broken, "--seconds", 0.5, "--jobs", 1, "--json", "--junit", "j.xml")
    )
    assert ran.code == 1
    report = json.loads(ran.out)
    assert report["runs"] > 0
    assert report["runs_per_second"] > 0
    assert set(report["coverage"]) == {
        *("commitA", "commitB", "begin_round", "mid_round", "end", "referee")
    }
    (one,) = report["findings"]
    assert {"rule", "place", "severity", "text", "vector", "replay"} <= set(one)
    file = one["replay"].removeprefix("channelsim replay ")
    assert Path(file).parts[:2] == (".channelsim", "a-copy")
    suite = ElementTree.parse("j.xml").getroot()
    cases = list(suite.iter("testcase"))
    assert (suite.get("failures"), len(cases)) == ("1", int(suite.get("tests", "0")))

    ran = channelsim(capsys, "replay", file)
    assert (ran.code, ran.err) == (1, "")
    assert "it still happens" in ran.out
    ran = channelsim(capsys, "replay", file, "--target", "spacepoker")
    assert ran.code == 0
    assert "no longer happens" in ran.out

    ran = channelsim(capsys, "trace", file)
    assert ran.code == 0
    assert "The rules say slash, by SP-COMMITA-2" in " ".join(ran.out.split())

    # The vector is a conformance case: right for the rules, wrong for this program.
    Path("v.jsonl").write_text(json.dumps(one["vector"]) + "\n")
    assert channelsim(capsys, "vectors", "check", "v.jsonl").code == 0
    assert channelsim(capsys, "vectors", "check", "--target", broken, "v.jsonl").code == 1

    # The next time it is found even where there is no time to look for it.
    ran = channelsim(capsys, "fuzz", broken, "--seconds", 0.1, "--jobs", 1)
    assert ran.code == 1
    assert "1 finding" in ran.out
    assert f"channelsim replay {file}" in ran.out


def test_a_fixed_finding_is_reported(
    broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found"
    arguments = ("fuzz", broken, "--seconds", 0.3, "--jobs", 1, "--out", out)
    assert channelsim(capsys, *arguments).code == 1
    mended = target_file(tmp_path, "spacepoker")
    ran = channelsim(capsys, "fuzz", mended, "--seconds", 0.8, "--jobs", 1, "--out", out)
    assert ran.code == 0
    assert "no longer happens" in ran.out
    assert len(list(out.glob("*.json"))) == 1  # nothing is deleted


@pytest.mark.long
def test_a_corpus_grows_and_nothing_of_it_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus"
    arguments = ("fuzz", "calpoker", "--seconds", 0.8, "--jobs", 1, "--corpus", corpus)
    assert channelsim(capsys, *arguments).code == 0
    before = {path.name: path.read_text() for path in corpus.iterdir()}
    assert before
    assert set(before) <= {f"{name}.jsonl" for name in "abcde"}
    assert channelsim(capsys, "vectors", "check", *corpus.iterdir()).code == 0
    target = load("calpoker")
    assert len(site_cases(target, corpus)) == sum(text.count("\n") for text in before.values())
    assert channelsim(capsys, *arguments, "--seed", "other").code == 0
    for name, text in before.items():  # the second run may reach a validator that the first did not
        assert (corpus / name).read_text().startswith(text)


def test_a_corpus_of_a_target_without_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, corpus = toy(tmp_path), tmp_path / "corpus"
    arguments = ("fuzz", path, "--seconds", 0.4, "--jobs", 1, "--corpus", corpus)
    assert channelsim(capsys, *arguments).code == 0
    cases = site_cases(load(str(path)), corpus)
    assert {probe.site.validator for probe in cases} == {"commit", "bid", "reveal"}
    assert channelsim(capsys, *arguments).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fuzz", "ludo"), "ludo: neither an installed game"),
        (("fuzz", "calpoker", "--seconds", "soon"), "seconds"),
        (("fuzz", "calpoker", "--jobs", 0), "jobs"),
        (("fuzz", "calpoker", "--corpus", "file"), "--corpus file: not a folder"),
        (("fuzz", "calpoker", "--out", "file"), "--out file: not a folder"),
        (("fuzz", "calpoker", "--corpus", "corpus"), "a.jsonl: a finding, not conformance"),
        (("fuzz", "calpoker", "--junit", "nowhere/j.xml"), "--junit nowhere/j.xml: no folder"),
        (
            ("replay", "found/x.json", "--target", "calpoker"),
            "x.json: a finding of another version",
        ),
        (("replay", "found/y.json", "--target", "calpoker"), "y.json: cannot be read"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[Any, ...],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("x")
    for folder, name in (("corpus", "a.jsonl"), ("found", "x.json")):
        Path(folder).mkdir()
        Path(folder, name).write_text('{"format": "channelsim finding 1"}\n')
    ran = channelsim(capsys, *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert words in ran.err


def test_a_bad_file_among_the_findings_is_reported_and_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text("[" * 9999)
    ran = channelsim(capsys, "fuzz", "calpoker", "--seconds", 0.1, "--jobs", 1, "--out", tmp_path)
    assert ran.code == 1
    # How far a tenth of a second comes is not what this is about.
    assert re.fullmatch(r"channelsim: calpoker: never tried: [a-e, ]+; try --seconds 1\n", ran.err)
    assert "x.json: cannot be tried: no finding" in ran.out


@pytest.mark.long
def test_a_program_that_never_ends_is_found_in_time(tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker")
    (tmp_path / "tree" / "calpoker" / "d.clsp").write_text(ENDLESS)
    report = done(timed_search(load(str(path)), "s", 1, 1, None))
    assert {one.place for one in report.findings} == {"d"}


def test_a_finding_of_another_target_is_refused_in_one_line(
    found: Finding, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.json"
    file.write_bytes(msgspec.json.encode(found))
    ran = channelsim(capsys, "replay", file, "--target", "calpoker")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "commitA" in ran.err
    changed = msgspec.structs.replace(found, probe={**found.probe, "state": {"pair": [1]}})
    file.write_bytes(msgspec.json.encode(changed))
    ran = channelsim(capsys, "replay", file, "--target", "spacepoker")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "probe" in ran.err


def seconds_of_work(session: int) -> int:
    """The processor time that the processes of a session have taken."""
    command = ["ps", "-o", "cputimes=", "-g", str(session)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, "they have ended"
    return sum(map(int, listed.stdout.split()))


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_an_interrupt_keeps_what_there_is(jobs: int, broken: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from channelsim.channel.cli import main; main()"]
    process = subprocess.Popen(
        [*command, "fuzz", str(broken), "--seconds", "300", "--jobs", str(jobs), "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    while seconds_of_work(process.pid) < 3 * jobs:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert err == b""
    assert process.returncode == 1
    report = json.loads(out)
    assert report["stopped"]
    assert len(report["findings"]) == 1
    assert len(list((tmp_path / ".channelsim").rglob("*.json"))) == 1


def test_a_single_recorded_case_is_searched_to_the_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target, honest = toy(tmp_path), tmp_path / "honest.jsonl"
    first = honest.read_text().splitlines()[0]
    honest.write_text(first + "\n")
    name = json.loads(first)["validator"]
    others = ", ".join(sorted(SOURCES.keys() - {name}, key=list(SOURCES).index))
    ran = channelsim(
        capsys, "fuzz", target, "--work", 300_000, "--jobs", 1, "--out", tmp_path / "o"
    )
    assert ran.code == 1
    assert ran.err == f"channelsim: a toy: never tried: {others}; no recorded hand comes there\n"
