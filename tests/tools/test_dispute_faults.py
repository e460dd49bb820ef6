"""Faults planted in the honest side: each is reached, noticed by the promises, and gone again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer import machine
from channelsim.channel.peer.config import Config
from channelsim.channel.protocol import transitions
from channelsim.channel.protocol.messages import Settle
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.promises.checker import BrokenPromise, check
from channelsim.channel.simulation.scenario import Scenario
from scripts.tools.attack_faults.planting import Reach, always, engine
from scripts.tools.dispute_faults import __main__ as tool
from scripts.tools.dispute_faults import search
from scripts.tools.dispute_faults.dispute_fault import DisputeFault
from scripts.tools.dispute_faults.engine_checks import EngineCheck, checks, skipped
from scripts.tools.dispute_faults.search import FaultStatus, examine, faulty_run, scenarios
from scripts.tools.dispute_faults.table import ARGUED, faults
from tests.channel.table import ANN, Table, sit
from tests.paths import ROOT
from tests.sampling import one_in

BY_NAME = {fault.name: fault for fault in faults()}

SETTLE = transitions._settle  # noqa: SLF001

IN_TIME = {rule for rule in RULES if rule.startswith("CH-TIME")}
"""Rules that no check raises: they are broken by saying nothing."""

QUICK = (
    *(f"unchecked transitions.{name}" for name in ("apply/1", "_settle/2", "_accept/1", "_move/2")),
    *(f"unchecked transitions._propose/{number}" for number in (1, 2, 3)),
    *(f"unchecked introduction.check_introduction/{number}" for number in (2, 3, 5)),
    "unchecked handshake._on_launch/1",
    *(f"unchecked receiving.receive_batch/{number}" for number in (1, 3)),
    *("unchecked half_signed.verify_halves/1", "unchecked half_signed.verify_halves/2"),
    *("unchecked shutdown.answered/1", "unchecked proposals.first_game/1"),
    *("never preempts", "never slashes"),
    *("deaf to requests", "sends two batches", "plays on"),
    *("pays the highest fee", "hides illegal moves", "hides cancellations"),
    *("cancels all proposals", "cancels accepted proposals", "loses early messages"),
    *("forgets an undone shutdown", "needs solutions", "goes on from an old copy"),
    *("is silent as an old copy", "publishes its old copy", "stays with an old copy"),
    *("uses up named numbers", "begins any deck"),
    *("loses acts", "cancels first", "starts times again", "knows no limit"),
    *(f"forgets the spacing of {what}" for what in ("games", "deadlines")),
    *("funds in a hurry", "takes illegal moves", "discloses its seed"),
    *("waits for ever", "clock ahead"),
)

SLOW = "keeps ready decks"
"""Faults that show within a few runs; of these, too, most are for the long tests."""


@pytest.fixture(autouse=True)
def remembered() -> Iterator[None]:
    with bls.remembered():
        yield


def test_the_engine_has_a_check_for_each_rule_and_each_check_a_name() -> None:
    named = {rule for fault in faults() for rule in fault.about}
    assert set(RULES) - IN_TIME <= named
    assert all(fault.about and fault.what for fault in faults())
    assert len(BY_NAME) == len(faults())
    assert len(faults()) > 100


def test_a_settlement_on_the_counterpartys_turn_is_noticed_on_either_side() -> None:
    """The engine without CH-SETTLE-2 takes it, and says nothing of it."""
    fault = BY_NAME["unchecked transitions._settle/2"]
    report = examine(fault, "theft")
    assert (report.outcome, report.promise) == (FaultStatus.NOTICED, "law")
    assert report.how == "it accepted what breaks CH-SETTLE-2"
    assert isinstance(report.scenario, Scenario)
    assert report.scenario.adversary == "breaks-ch-settle-2"


@pytest.mark.parametrize("name", [*one_in(3, QUICK), pytest.param(SLOW, marks=pytest.mark.long)])
def test_a_fault_is_noticed(name: str) -> None:
    report = examine(BY_NAME[name], "faults")
    assert report.outcome is FaultStatus.NOTICED, report
    assert report.reached


def test_every_reason_is_of_a_fault() -> None:
    assert set(ARGUED) <= set(BY_NAME)


PARTS = 12
"""Parts of the faults, which workers of the tests examine at the same time."""


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_fault_is_noticed_or_has_a_reason_why_not(part: int) -> None:
    reports = [examine(fault, "long") for fault in faults()[part::PARTS]]
    assert [report.fault.name for report in reports if report.is_open] == []


def in_a_game() -> Table:
    """A table at which a game is live."""
    table = sit().open().propose(ANN)
    return table.until(lambda: bool(table.ends[ANN].state.games))


def test_a_fault_is_gone_when_its_run_is_over() -> None:
    fault = BY_NAME["unchecked transitions._settle/2"]
    table = in_a_game()
    game = table.ends[ANN].state.games[0]
    before = SETTLE.__code__
    for scenario, _ in zip(scenarios(fault, "gone"), range(2), strict=False):
        faulty_run(scenario, fault.plant, Reach())
        assert SETTLE.__code__ is before
        with pytest.raises(Violation, match="CH-SETTLE-2"):
            SETTLE(table.ends[ANN].state, Side(game.mover.other), Settle(game.id))


def test_a_skipped_check_does_not_raise_and_reports_that_it_was_reached() -> None:
    table = in_a_game()
    state = table.ends[ANN].state
    game = state.games[0]
    (fits,) = (check_ for check_ in checks() if check_.name == "transitions._settle/2")
    reached: list[int] = []
    with skipped(fits, lambda: reached.append(1)):
        after, settled = SETTLE(state, game.mover.other, Settle(game.id))
        with pytest.raises(Violation, match="CH-SETTLE-1"):
            SETTLE(state, game.mover, Settle(999))
    assert reached == [1]
    assert (after.games, len([settled])) == ((), 1)


@pytest.mark.parametrize(
    "check_",
    [
        EngineCheck("protocol.transitions", "_settle", 9, ("CH-SETTLE-2",), ""),
        EngineCheck("protocol.transitions", "_gone", 1, (), ""),
    ],
)
def test_a_check_that_the_engine_does_not_have_is_an_error(check_: EngineCheck) -> None:
    with pytest.raises(InvariantError, match="the engine has no check"):
        skipped(check_, lambda: None).__enter__()


def test_a_function_that_the_engine_does_not_have_is_an_error() -> None:
    for where in (
        "protocol.transitions:_gone",
        "peer.machine:Peer.gone",
        "peer.machine:Gone.handle",
    ):
        with pytest.raises(AttributeError, match="one"):
            engine(where, always(None))


def harmless(stack: ExitStack, reach: Reach) -> None:
    """Change nothing, and say that it did."""
    reach.mark()


def test_a_fault_without_effect_differs_from_one_that_was_not_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "MOST_RUNS", 2)
    fault = DisputeFault("harmless", ("safety",), "does no harm", harmless, ("",))
    assert examine(fault, "x").outcome is FaultStatus.UNNOTICED
    never = replace(fault, plant=lambda stack, reach: None)
    assert examine(never, "x").outcome is FaultStatus.UNREACHED
    assert examine(replace(fault, seen_by=()), "x").outcome is FaultStatus.UNREACHED


def test_a_promise_that_breaks_without_the_fault_is_reported_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault = DisputeFault("none", ("safety",), "nothing", lambda stack, reach: None, ("",))
    monkeypatch.setattr(search, "check", lambda run: [BrokenPromise("safety", "planted")])
    report = examine(fault, "x")
    assert (report.outcome, report.how) == (FaultStatus.WITHOUT, "planted")
    assert report.is_open


def test_without_a_fault_the_same_runs_break_no_promise() -> None:
    seen_by = "leaver", "breaks-ch-settle-2"
    fault = DisputeFault("none", ("safety",), "nothing", lambda stack, reach: None, seen_by)
    for scenario, _ in zip(scenarios(fault, "faults"), range(3), strict=False):
        assert check(faulty_run(scenario, fault.plant, Reach())) == []


def test_only_the_honest_side_has_the_fault() -> None:
    """The other side's peer refuses what breaks CH-SETTLE-2, however often it is asked."""
    seen: list[int] = []

    def plant(stack: ExitStack, reach: Reach) -> None:
        right = machine.transition

        def noted(config: Config, *given: Any) -> Any:
            seen.append(config.side)
            return right(config, *given)

        stack.enter_context(mock.patch.object(machine, "transition", noted))

    run = faulty_run(Scenario(("calpoker",), "sides", side=0), plant, Reach())
    assert {*seen} == {run.scenario.honest} == {1}


def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *names: str
) -> Any:
    """The exit code of the tool, and the lines that it prints; it works in this process."""
    monkeypatch.setattr(sys, "argv", ["dispute_faults", *names])
    monkeypatch.setattr(tool, "ProcessPoolExecutor", lambda *given: ThreadPoolExecutor(1))
    code = tool.main()
    return code, capsys.readouterr().out.splitlines()


def test_the_tool_prints_what_noticed_each_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, lines = printed(monkeypatch, capsys, "_settle/2", "never slashes")
    assert code == 0
    assert lines[0].startswith("noticed: unchecked transitions._settle/2 (CH-SETTLE-2)")
    assert "by breaks-ch-settle-2@0: law: it accepted what breaks CH-SETTLE-2" in lines[0]
    assert lines[2].startswith("2 faults: 2 noticed, 0 refused by another check")
    assert lines[2].endswith("open: none")


@pytest.mark.long
def test_the_tool_works_in_processes() -> None:
    command = [sys.executable, "-m", "scripts.tools.dispute_faults", "_settle/2"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[1].startswith("1 fault: 1 noticed")


def test_an_unnoticed_fault_fails_the_tool(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = DisputeFault("harmless", ("safety",), "does no harm", harmless, ("",))
    monkeypatch.setattr(search, "MOST_RUNS", 1)
    for module in (search, tool):
        monkeypatch.setattr(module, "faults", lambda: (fault,))
    code, lines = printed(monkeypatch, capsys)
    assert code == 1
    assert lines[1].endswith("open: harmless")
    monkeypatch.setattr(search, "ARGUED", {"harmless": "it does no harm"})
    code, lines = printed(monkeypatch, capsys)
    assert (code, lines[0].rpartition(": ")[2]) == (0, "it does no harm")


def test_no_fault_of_a_name_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dispute_faults", "nothing at all"])
    with pytest.raises(SystemExit, match="no fault is called 'nothing at all'"):
        tool.main()
