"""`channelsim crash-test`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from channelsim.channel.cli.commands import crash_test
from channelsim.channel.simulation.crashes import CrashedRun, CrashTotals
from channelsim.channel.simulation.killed_peer import LOST, Kill
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.command import channelsim

BROKEN = CrashedRun(
    Scenario(("spacepoker",), "x", "silent", step=3),
    ((Kill(4, LOST),), ()),
    ("initiator sent two different messages: batch 4",),
    ("safety: it lost",),
)


def test_it_prints_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "crash-test", "--kills", 2, "--seed", "a", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    sessions = document.pop("sessions")
    assert document == {
        "kills": 2,
        "node_kills": 0,
        "contradictions": 0,
        "broken_promises": 0,
        "interrupted": False,
        "lost": [],
        "findings": [],
    }
    assert sessions >= 1


@pytest.mark.parametrize("form", ["--json", "--text"])
def test_a_finding_is_shown_and_is_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def broken(
        *_: object, on_failure: Callable[[CrashedRun], None], **options: object
    ) -> CrashTotals:
        totals = CrashTotals()
        totals.add(BROKEN)
        on_failure(BROKEN)
        return totals

    monkeypatch.setattr(crash_test, "run_crashes", broken)
    ran = channelsim(capsys, "crash-test", form)
    assert ran.code == 1
    assert "two different messages: batch 4" in ran.out
    assert "safety: it lost" in ran.out
    assert "    safety: it lost\n" in ran.err
    if form == "--json":
        (finding,) = json.loads(ran.out)["findings"]
        assert finding["kills"] == [[{"event": 4, "effects": -1}], []]
    else:
        assert ran.out.endswith(
            "1 kill in 1 session: 1 contradictory signature, 1 broken promise\n"
        )


@pytest.mark.parametrize("wrong", [("--kills", "0"), ("--kills", "many"), ("--jobs", "0")])
def test_wrong_options_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], wrong: tuple[str, str]
) -> None:
    ran = channelsim(capsys, "crash-test", *wrong)
    assert ran.code == 2
    assert ran.out == ""
    assert "a whole number from 1 to" in ran.err
