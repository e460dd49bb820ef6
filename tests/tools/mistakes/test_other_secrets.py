"""Mistakes with secrets of other kinds: chains of hashes, uneven trees, numbers in order."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.paths import ROOT

# The games are plug-ins of a new process only.
_SEARCH = """
import json, sys
from scripts.tools.mistakes.examples import available
with available():
    from scripts.tools.mistakes.correct import search_correct
    from scripts.tools.mistakes.searching import search
    side, *names = sys.argv[1:]
    results = [
        search_correct(name, side == "with", 0, 4000, "right").findings
        if name in ("fivecards", "raffle")
        else search(name, side == "with", 20, 1, "fuzz").law
        for name in names
    ]
    print(json.dumps(results))
"""

BOUND, ENFORCED = "commitments are bound", "hidden values are enforced"


def _search(*words: str) -> list[object]:
    ran = subprocess.run(
        [sys.executable, "-c", _SEARCH, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    results: list[object] = json.loads(ran.stdout)
    return results


@pytest.mark.long
def test_a_chain_of_hashes_without_rules() -> None:
    found = _search("without", "five-same-card", "five-unbound-rest", "five-replayed-link")
    assert found == [ENFORCED, BOUND, BOUND]


@pytest.mark.long
def test_an_uneven_tree_without_rules() -> None:
    found = _search(
        *("without", "raffle-shorter-branch", "raffle-any-side", "raffle-equal-numbers")
    )
    assert found == [BOUND, BOUND, ENFORCED]


@pytest.mark.long
def test_another_branch_and_a_number_at_a_border_with_rules() -> None:
    found = _search("with", "raffle-shorter-branch", "raffle-last-number")
    assert found == ["verdicts agree", "verdicts agree"]


@pytest.mark.long
@pytest.mark.parametrize("side", ["with", "without"])
def test_nothing_is_found_in_the_right_programs(side: str) -> None:
    assert _search(side, "fivecards", "raffle") == [[], []]


@pytest.mark.long
def test_either_of_two_leaves_in_a_move_without_rules() -> None:
    assert _search("without", "ranks-answer-index", "ranks-wrong-root") == [BOUND, BOUND]


@pytest.mark.long
def test_a_piece_that_its_player_would_not_choose_with_rules() -> None:
    laws = _search("with", "ranks-dead-attacks", "ranks-flag-attacks")
    assert laws == ["verdicts agree", "verdicts agree"]
