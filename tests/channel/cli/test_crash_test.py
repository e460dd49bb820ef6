"""`channelsim crash-test`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

import msgspec
import pytest

from channelsim.channel.attack import crashes
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.crashed_run import CrashedRun
from channelsim.channel.attack.crashes import MOST_IDLE, Crashes, CrashTotals
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.findings.finding import Loss
from channelsim.channel.simulation.kills import AIMS, LOST, Kill, Stage
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.command import channelsim

BROKEN = CrashedRun(
    asdict(Scenario(("spacepoker",), "x", "silent", step=3)),
    ((Kill(4, LOST, Stage.BATCH),), ()),
    ("initiator sent two different messages: batch 4",),
    (BrokenPromise("safety", "it lost", Loss("Bob", "Ann", 7)),),
    title="silent@3, seed x",
)


def test_it_prints_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "crash-test", "--kills", 2, "--seed", "a", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    sessions = document.pop("sessions")
    stages = document.pop("stages")
    assert [*stages] == ["opening", "deck_step", "batch", "shutdown", "dispute", "rest"]
    assert sum(stages.values()) == 2
    assert document == {
        "format": "channelsim document crash-test 2",
        "target": None,
        "dealer": None,
        "seed": "a",
        "digest": None,
        "kills": 2,
        "node_kills": 0,
        "contradictions": 0,
        "broken_promises": 0,
        "interrupted": False,
        "lost": [],
        "summary": "0 findings",
        "worst": "",
        "failed": [],
        "findings": [],
    }
    assert sessions >= 1


@pytest.mark.parametrize("form", ["--json", "--text"])
def test_a_finding_is_shown_and_is_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def broken(self: Crashes, place: Place) -> CrashTotals:
        totals = CrashTotals()
        totals.add(BROKEN)
        place.say("\n".join((f"{BROKEN.title}:", *BROKEN.details)))
        return totals

    monkeypatch.setattr(Crashes, "run", broken)
    ran = channelsim(capsys, "crash-test", form)
    assert ran.code == 1
    assert "two different messages: batch 4" in ran.out
    assert "safety: it lost" in ran.out
    assert "    safety: it lost\n" in ran.err
    if form == "--json":
        document = json.loads(ran.out)
        (run,) = document["failed"]
        assert run["kills"] == [[{"event": 4, "effects": -1, "stage": "batch"}], []]
        assert document["worst"] == "Bob takes 7 mojos that are Ann's: safety: it lost"
    else:
        assert ran.out.endswith(
            "kills of peers by stage: 0 in opening, 0 in deck step, 1 in batch, 0 in shutdown,"
            " 0 in dispute, 0 elsewhere in play\n"
            "1 kill in 1 session; 2 findings (worst: broken promise)\n"
        )


@pytest.mark.parametrize(("least", "code"), [(0, 0), (1, 1)])
def test_a_stage_without_kills_is_a_failure_if_they_are_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, least: int, code: int
) -> None:
    totals = CrashTotals(stages=Counter(dict.fromkeys([*AIMS][:-1], 3)))
    monkeypatch.setattr(Crashes, "run", lambda self, place: totals)
    ran = channelsim(capsys, "crash-test", "--per-stage", least, "--quiet")
    assert ran.code == code
    assert ("fewer than 1 kill: 0 in dispute; try more --kills" in ran.err) == bool(code)


@pytest.mark.parametrize("wrong", [("--kills", "0"), ("--kills", "many"), ("--jobs", "0")])
def test_wrong_options_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], wrong: tuple[str, str]
) -> None:
    ran = channelsim(capsys, "crash-test", *wrong)
    assert ran.code == 2
    assert ran.out == ""
    assert "a whole number from 1 to" in ran.err


def test_it_ends_if_each_run_fails_before_its_first_kill(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(attack: Attack) -> CrashedRun:
        broken = (BrokenPromise("exception", "ValueError: planted"),)
        return CrashedRun(msgspec.to_builtins(attack), ((), ()), (), broken)

    monkeypatch.setattr(crashes, "run_killed", fails)
    ran = channelsim(capsys, "crash-test", "--kills", 2, "--jobs", 1, "--json")
    assert ran.code == 1
    line = f"stopped after 0 kills of 2: {MOST_IDLE} runs in a row had none"
    assert sum(line in text for text in ran.err.splitlines()) == 1
    assert json.loads(ran.out)["sessions"] == MOST_IDLE
