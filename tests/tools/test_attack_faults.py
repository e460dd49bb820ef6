"""Faults planted for `attack`: the table, and the file of results."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.campaign import broken_by
from channelsim.channel.crypto import bls
from channelsim.channel.peer.machine import TRANSITIONS
from channelsim.channel.peer.phases import playing
from channelsim.channel.store import snapshots
from scripts.tools.attack_faults import search
from scripts.tools.attack_faults.generated import EMPTY
from scripts.tools.attack_faults.planting import (
    PARTS,
    Fault,
    Reach,
    function,
    value,
    where_it_fails,
)
from scripts.tools.attack_faults.search import Result, ResultFile, Search, examine
from scripts.tools.attack_faults.stream import Probed, Stream
from scripts.tools.attack_faults.table import faults
from tests.paths import ROOT
from tests.sampling import one_in

TABLE = {fault.name: fault for fault in faults()}


@pytest.fixture(autouse=True, scope="module")
def remembered() -> Iterator[None]:
    with bls.remembered():
        yield


def test_at_least_150_faults_are_in_all_parts_and_at_most_a_tenth_are_argued() -> None:
    parts = Counter(fault.part for fault in TABLE.values())
    assert sum(parts.values()) >= 150
    assert {*parts} == {*PARTS}
    assert min(parts.values()) >= 5
    argued = [fault for fault in TABLE.values() if fault.argued]
    assert 10 * len(argued) <= len(TABLE)
    assert all(fault.test for fault in argued)


def test_each_field_of_a_snapshot_has_a_fault() -> None:
    fields = snapshots._Snapshot.__struct_fields__  # noqa: SLF001
    assert {*EMPTY, "groups"} == {*fields}
    assert {f"snapshot-without-{name.replace('_', '-')}" for name in fields} <= {*TABLE}


def test_every_fault_can_be_planted_and_leaves_nothing_behind() -> None:
    before = {phase: dict(table) for phase, table in TRANSITIONS.items()}
    code = playing.on_batch.__code__
    for fault in TABLE.values():
        with ExitStack() as stack:
            fault.plant(stack, Reach())
        assert {phase: dict(table) for phase, table in TRANSITIONS.items()} == before, fault
    assert playing.on_batch.__code__ is code


CALM = Attack(("spacepoker",), "calm", hands=1)

SHOWN_BY_CALM = ("signs-wrongly", "never-closes", "forgets-to-send-batch", "deaf-to-act-in-playing")


@pytest.mark.parametrize("name", one_in(2, SHOWN_BY_CALM))
def test_a_planted_fault_breaks_a_monitor_that_holds_without_it(name: str) -> None:
    reach = Reach()
    with ExitStack() as stack:
        TABLE[name].plant(stack, reach)
        assert broken_by(CALM)
    assert reach.reached
    assert broken_by(CALM) == {}


def test_a_rule_that_is_not_checked_is_broken_unnoticed_by_the_peer() -> None:
    """A batch without any valid half is refused, unless nothing is checked by that rule."""
    reach = Reach()
    with ExitStack() as stack:
        TABLE["signs-wrongly"].plant(stack, Reach())
        TABLE["unchecked-ch-batch-5"].plant(stack, reach)
        broken_by(CALM)
    assert reach.reached


class Sessions(Stream):
    """Sessions that nobody runs; of three, two reach the fault."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def session(self, number: int) -> Probed:
        """The session of a number."""
        self.asked.append(number)
        script = Attack(("spacepoker",), f"s/{number}", (Action("drop", 0, 1),))
        return Probed(script, frozenset(["f"] if number % 3 else []))


def test_a_search_runs_what_reaches_a_fault_goes_on_where_it_was_and_claims_each_fault_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run: list[str] = []

    def broken(script: Attack) -> dict[str, str]:
        run.append(script.seed)
        return {"settled": "not done"} if planted and script.seed == "s/5" else {}

    planted: list[bool] = []
    monkeypatch.setattr(search, "broken_by", broken)
    search._broken_without.cache_clear()  # noqa: SLF001

    def plant(stack: ExitStack, reach: Reach) -> None:
        planted.append(True)
        stack.callback(planted.clear)

    fault, sessions = Fault("f", "engine", "it fails", plant), Sessions()
    file = ResultFile(tmp_path / "results.json", "s")
    file.write(examine(fault, Result("f"), Search(9, sessions, tries=2)))
    first = file.read().results["f"]
    assert (first.sessions, first.reached, first.noticed) == (3, 2, 0)
    assert run == ["s/1", "s/2"]
    found = examine(fault, first, Search(9, sessions))
    assert (found.noticed, found.reached, found.monitor) == (6, 4, "settled")
    assert sessions.asked == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="seed"):
        ResultFile(tmp_path / "results.json", "other").read()
    old = (tmp_path / "results.json").read_bytes().replace(b'"crash"', b'"crush"')
    (tmp_path / "old.json").write_bytes(old)
    with pytest.raises(ValueError, match="kinds"):
        ResultFile(tmp_path / "old.json", "s").read()
    other = Fault("g", "engine", "it fails", plant)
    assert list(file.claimed([fault, other])) == [fault, other]


def test_probes_mark_what_a_session_reaches_change_nothing_and_are_stored(tmp_path: Path) -> None:
    names = ("signs-wrongly", "never-closes", "forgets-to-send-batch", "forgets-to-tell-old-copy")
    some = [TABLE[name] for name in names]
    path = tmp_path / "sessions.jsonl"
    first = Stream(some, "probes 7", path, fast=True).session(0)
    assert {"never-closes", "forgets-to-send-batch"} <= first.reached
    assert "forgets-to-tell-old-copy" not in first.reached
    assert first.broken == ()
    again = Stream(some, "probes 7", path, fast=True)
    assert again.session(0) == first
    with pytest.raises(ValueError, match="name a new file"):
        Stream(some, "other", path, fast=True).session(0)


def test_a_probe_of_what_fails_marks_it_there_only() -> None:
    def failing(number: int) -> int:
        return 1 // number

    owner: Any = SimpleNamespace(failing=failing)
    fault = where_it_fails(owner, "failing", value(owner, "failing", None))
    reach = Reach(probes=True)
    with ExitStack() as stack:
        fault(stack, reach)
        assert owner.failing(1) == 1
        before = reach.reached
        with pytest.raises(ZeroDivisionError):
            owner.failing(0)
    assert (before, reach.reached) == (False, True)
    with ExitStack() as stack:
        fault(stack, Reach())
        assert not owner.failing
    assert owner.failing is failing


def test_what_a_wrong_function_gets_first_is_the_right_one() -> None:
    owner = SimpleNamespace(right=len)
    with ExitStack() as stack:
        function(owner, "right", lambda right, *given: (right, given))(stack, Reach())
        assert owner.right("a", "b") == (len, ("a", "b"))


ARGUED = [fault for fault in TABLE.values() if fault.argued]


@pytest.mark.parametrize("fault", ARGUED, ids=lambda fault: fault.name)
def test_an_argued_fault_has_a_test_that_is_there(fault: Fault) -> None:
    path, _, name = fault.test.partition("::")
    assert f"def {name}(" in (ROOT / path).read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("fault", ARGUED, ids=lambda fault: fault.name)
def test_a_test_fails_on_an_argued_fault(fault: Fault) -> None:
    command = ["-m", "pytest", "-n", "0", "-q", "-x", "-p", "scripts.tools.attack_faults.planted"]
    for planted, code in ((fault.name, 1), ("", 0)):
        done = subprocess.run(
            [sys.executable, *command, fault.test],
            env={**os.environ, "PLANTED": planted},
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, done.stdout.decode()[-2000:]
