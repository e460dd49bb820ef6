"""Faults planted in the honest side: each is reached, noticed by the promises, and gone again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from channelsim.channel.campaign.campaign import here
from channelsim.channel.cli.work import dispute_faults as cli
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol import transitions
from channelsim.channel.protocol.messages import Settle
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.faults import search
from channelsim.channel.simulation.faults.kinds import (
    EngineCheck,
    EngineFault,
    always,
    checks,
    replaced,
    skipped,
)
from channelsim.channel.simulation.faults.planted_fault import PlantedFault
from channelsim.channel.simulation.faults.search import (
    FaultStatus,
    FaultyArena,
    examine,
    faults_campaign,
    scenarios,
)
from channelsim.channel.simulation.faults.table import ARGUED, faults
from channelsim.channel.simulation.promises.checker import BrokenPromise, check
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.command import channelsim
from tests.channel.table import ANN, Table, sit
from tests.sampling import one_in

BY_NAME = {fault.name: fault for fault in faults()}

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
    *("uses up named numbers", "begins any deck", "keeps ready decks"),
    *("loses acts", "cancels first", "starts times again", "knows no limit"),
    *(f"forgets the spacing of {what}" for what in ("games", "deadlines")),
    *("funds in a hurry", "takes illegal moves", "discloses its seed"),
    *("waits for ever", "clock ahead"),
)
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
    assert report.scenario is not None
    assert report.scenario.adversary == "breaks-ch-settle-2"


@pytest.mark.parametrize("name", one_in(3, QUICK))
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
    names = [*BY_NAME][part::PARTS]
    campaign = faults_campaign("long", names)
    report = campaign.run(here(campaign))
    assert {fault.fault for fault in report.results} == set(names)
    assert report.findings == []


def in_a_game() -> Table:
    """A table at which a game is live."""
    table = sit().open().propose(ANN)
    return table.until(lambda: bool(table.ends[ANN].state.games))


def test_a_fault_is_gone_when_its_run_is_over() -> None:
    fault = BY_NAME["unchecked transitions._settle/2"]
    table = in_a_game()
    game = table.ends[ANN].state.games[0]
    before = transitions._settle.__code__
    for scenario, _ in zip(scenarios(fault, "gone"), range(2), strict=False):
        FaultyArena(scenario, fault).run()
        assert transitions._settle.__code__ is before
        with pytest.raises(Violation, match="CH-SETTLE-2"):
            transitions._settle(table.ends[ANN].state, Side(game.mover.other), Settle(game.id))


def test_a_skipped_check_does_not_raise_and_reports_that_it_was_reached() -> None:
    table = in_a_game()
    state = table.ends[ANN].state
    game = state.games[0]
    (fits,) = (check_ for check_ in checks() if check_.name == "transitions._settle/2")
    reached: list[int] = []
    with skipped(fits, lambda: reached.append(1)):
        after, settled = transitions._settle(state, game.mover.other, Settle(game.id))
        with pytest.raises(Violation, match="CH-SETTLE-1"):
            transitions._settle(state, game.mover, Settle(999))
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
        with pytest.raises(InvariantError, match="cannot be planted"):
            replaced(where, always(None), lambda: None).__enter__()


def test_every_fault_has_its_place_in_the_engine() -> None:
    peer = sit().ends[ANN].peer
    for fault in faults():
        assert isinstance(fault.plant(peer).react(None, lambda event: []), list)


class Harmless(EngineFault):
    """A fault that changes nothing and says that it did."""

    def __init__(self, peer: Peer, reached: bool = True) -> None:
        super().__init__(peer)
        self.reached = reached


def test_a_fault_without_effect_differs_from_one_that_was_not_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "MOST_RUNS", 2)
    fault = PlantedFault("harmless", ("safety",), "does no harm", Harmless, ("",))
    assert examine(fault, "x").outcome is FaultStatus.UNNOTICED
    never = replace(fault, plant=lambda peer: Harmless(peer, False))
    assert examine(never, "x").outcome is FaultStatus.UNREACHED
    assert examine(replace(fault, seen_by=()), "x").outcome is FaultStatus.UNREACHED


def test_a_promise_that_breaks_without_the_fault_is_reported_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault = PlantedFault("none", ("safety",), "nothing", EngineFault, ("",))
    monkeypatch.setattr(search, "check", lambda run: [BrokenPromise("safety", "planted")])
    report = examine(fault, "x")
    assert (report.outcome, report.how) == (FaultStatus.WITHOUT, "planted")
    assert report.is_open


def test_without_a_fault_the_same_runs_break_no_promise() -> None:
    fault = PlantedFault(
        "none", ("safety",), "nothing", EngineFault, ("leaver", "breaks-ch-settle-2")
    )
    for scenario, _ in zip(scenarios(fault, "faults"), range(3), strict=False):
        assert check(FaultyArena(scenario, fault).run()) == []


def test_the_command_reports_what_noticed_each_fault(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "dispute", "faults", "_settle/2", "never slashes", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert (told["faults"], told["noticed"], told["open"]) == (2, 2, [])
    assert told["rules"]["CH-SETTLE-2"] == {
        "unchecked transitions._settle/2": "breaks-ch-settle-2: law"
    }
    scenario = msgspec.convert(told["findings"][0]["scenario"], Scenario)
    assert check(FaultyArena(scenario, BY_NAME["unchecked transitions._settle/2"]).run())


def test_an_unnoticed_fault_fails_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    harmless = PlantedFault("harmless", ("safety",), "does no harm", Harmless, ("",))
    monkeypatch.setattr(search, "MOST_RUNS", 1)
    for module in (search, cli):
        monkeypatch.setattr(module, "faults", lambda: (harmless,))
    ran = channelsim(capsys, "dispute", "faults")
    assert ran.code == 1
    assert json.loads(ran.out)["open"] == ["harmless"]
    assert json.loads(ran.out)["summary"] == "1 finding (worst: unnoticed fault)"
    for module in (search, cli):
        monkeypatch.setattr(module, "ARGUED", {"harmless": "it does no harm"})
    assert channelsim(capsys, "dispute", "faults").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "no fault is called 'nothing'"),
        (("_settle",), "did you mean 'unchecked transitions._settle/1' or"),
        (("--jobs", "0"), "from 1 to 256"),
    ],
)
def test_wrong_use_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    ran = channelsim(capsys, "dispute", "faults", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
