"""Faults that are planted for `explore`: a few are noticed, what changes nothing is not."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.explore.exploration import Root
from channelsim.channel.peer.onchain import scan_games
from scripts.tools import explore_faults
from scripts.tools.attack_faults.planting import Fault, function
from scripts.tools.attack_faults.table import faults
from scripts.tools.explore_faults import DATA, FAULTS, Results, examine, roots_of

FEW = 70
"""States of a search in which the faults that are tried here are noticed."""

BY_NAME = {fault.name: fault for fault in FAULTS}


@pytest.fixture(scope="module")
def roots() -> list[Root]:
    with fast_signatures():
        return roots_of(BY_NAME["stale-not-preempted"], ("spacepoker",), "planted")[:1]


@pytest.mark.parametrize(
    ("name", "states", "how"),
    [
        ("stale-not-preempted", FEW, "it does not preempt state"),
        pytest.param(*("final-at-once", 3 * FEW, "final news was undone"), marks=pytest.mark.long),
    ],
)
def test_a_planted_fault_is_noticed(name: str, states: int, how: str, roots: list[Root]) -> None:
    with fast_signatures():
        result = examine(BY_NAME[name], roots, states)
    assert result.is_noticed
    assert how in result.how
    assert result.path


def test_what_changes_nothing_is_not_noticed(roots: list[Root]) -> None:
    same = function(scan_games, "decide", lambda right, *given: right(*given))
    with fast_signatures():
        result = examine(Fault("none", "chain", "nothing is wrong", same), roots, FEW)
    assert (result.states, result.how, result.is_noticed) == (FEW, "", False)


def test_a_promise_that_is_broken_without_the_fault_is_not_its_own(
    roots: list[Root], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore_faults, "walked", lambda world, path: ["it is broken anyway"])
    with fast_signatures():
        result = examine(BY_NAME["stale-not-preempted"], roots, FEW)
    assert (bool(result.how), result.is_noticed) == (True, False)


def test_at_least_fifteen_of_the_stored_faults_were_noticed() -> None:
    stored = msgspec.json.decode(DATA.read_bytes(), type=Results)
    known = {*BY_NAME, *(fault.name for fault in faults())}
    assert {*BY_NAME} <= {result.fault for result in stored.results} <= known
    assert sum(result.is_noticed for result in stored.results) >= 15


def test_results_of_another_search_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "faults.json"
    path.write_bytes(msgspec.json.encode(Results("spacepoker", "planted", 5)))
    monkeypatch.setattr(sys, "argv", ["explore_faults", "--states", "6", "--out", str(path)])
    with pytest.raises(SystemExit, match="of another game, seed or number of states"):
        explore_faults.main()
