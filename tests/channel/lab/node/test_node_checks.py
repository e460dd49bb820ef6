"""Referee positions on the node: what happens is what the Python model of the referee says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.node.game_spends import RAISED
from channelsim.channel.lab.node.node_checks import (
    EARLY,
    LATE,
    PASSES,
    UNSIGNED,
    NodeReport,
    check_on_node,
)
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.testing.checking import node_failures
from channelsim.games import registry
from channelsim.games.referee import RULES
from tests.channel.lab.broken import target_file
from tests.menu import each_program
from tests.sampling import one_in

FEW, SOME, MANY = 40, 2_000, 10_000

FAMILIES = ("spacepoker", "calpoker", "holdem", "chinese")
"""Games whose programs differ; the other poker games share most of theirs."""

NEVER_ALONE = {
    "REF-TIMEOUT-3",  # its lock is the node's to hold, as EARLY
    "REF-TIMEOUT-4",  # its signatures too, as UNSIGNED
    "REF-MOVE-10",  # and these, as LATE or UNSIGNED
    *("REF-SLASH-3", "REF-SLASH-4", "REF-SLASH-5", "REF-SLASH-6"),  # say what passes
}


NEVER_RAISE = {"chinese"}
"""Games without evidence: no rule of theirs raises."""


def everything_happened(report: NodeReport) -> None:
    """Each path passed, and was refused by each of its rules and for each of its reasons."""
    found = {path: {how for one, how in report.counts if one == path} for path, _ in report.counts}
    for path, hows in found.items():
        rules = {rule for rule in RULES if rule.startswith(f"REF-{path.upper()}-")}
        assert hows >= rules - NEVER_ALONE | {PASSES, UNSIGNED}
    assert LATE in found["move"]
    assert EARLY in found["timeout"]
    assert (RAISED in found["slash"]) is (report.target.name not in NEVER_RAISE)
    passed = sum(number for (_, how), number in report.counts.items() if how == PASSES)
    assert 0.3 < passed / report.counts.total() < 0.7


@each_program
def test_a_few_positions(game: str) -> None:
    report = check_on_node(load(game), FEW, "few")
    assert report.differences == []
    assert report.counts.total() == FEW
    assert {path for path, _ in report.counts} == {"move", "timeout", "slash"}
    assert {path for path, how in report.counts if how == PASSES} == {"move", "timeout", "slash"}


@pytest.mark.long
@pytest.mark.parametrize("game", registry.names())
def test_thousands_of_positions(game: str) -> None:
    many = MANY if game in FAMILIES else SOME
    report = check_on_node(load(game), many, "many")
    assert report.differences == []
    assert report.counts.total() == many
    everything_happened(report)


def test_the_same_seed_tries_the_same() -> None:
    one, same, other = (check_on_node(load("calpoker"), 25, seed) for seed in ("s", "s", "t"))
    assert one.counts == same.counts != other.counts


FILE = "channel/referee.clsp"

FAULTS = {
    "the waiter is paid everything": (FILE, "(- AMOUNT MOVER_SHARE)", "AMOUNT"),
    "a share in more bytes": (FILE, "(is_minimal share)", "1"),
    "a game that is over goes on": (FILE, "INFOHASH_B                            ", "1 "),
    "a negative size": (FILE, "(> max_move_size -1)", "1"),
    "a forged validator": (FILE, "(= (infohash program_hash state) INFOHASH_A)", "1"),
    "a slash of anything": (FILE, "(if (l (drop 3 result))", "(if 1"),
    "no time limit": (FILE, "(list ASSERT_BEFORE_HEIGHT_RELATIVE TIMEOUT)", "(list 1)"),
    "a timeout at once": (
        FILE,
        "(c\n        (list ASSERT_HEIGHT_RELATIVE TIMEOUT) ",
        "(c (list 1)",
    ),
    "nobody signs": (FILE, "(list AGG_SIG_ME MOVER_PUBKEY (tree_hash solution))", "(list 1)"),
    "the coin shrinks": (
        FILE,
        "              AMOUNT\n            )\n            (list AGG",
        "(- AMOUNT 1)) (list AGG",
    ),
}


@pytest.mark.parametrize("fault", one_in(10, FAULTS))
def test_a_fault_in_the_referee_shows_on_the_node(fault: str, tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker", FAULTS[fault], referee="tree/channel/referee.clsp")
    target = load(str(path))
    report = check_on_node(target, 100, "faults")
    if not report.differences:
        report = check_on_node(target, 500, "faults")
    assert report.differences
    assert report.differences[0].startswith("position ")
    assert "\n" not in report.differences[0]


@pytest.mark.long
def test_a_validator_that_the_rules_do_not_describe_shows_too(tmp_path: Path) -> None:
    change = ("spacepoker/commitA.clsp", "(= MOVER_SHARE (/ AMOUNT 2))", "1")
    report = check_on_node(load(str(target_file(tmp_path, "spacepoker", change))), 800, "faults")
    assert report.differences
    assert all(": a slash " in line for line in report.differences)


def test_a_target_without_rules_has_no_model() -> None:
    one = load("calpoker")
    with pytest.raises(UsageError):
        check_on_node(Target("nobody's", one.programs, one.referee), 1, "s")


def test_an_author_gets_a_report(tmp_path: Path) -> None:
    assert node_failures(load("calpoker"), 60, "s") == ""
    change = FAULTS["the waiter is paid everything"]
    path = target_file(tmp_path, "calpoker", change, referee="tree/channel/referee.clsp")
    first, empty, *lines = node_failures(load(str(path)), 120, "u").splitlines()
    assert first.startswith("a copy: ")
    assert first.endswith(" of 120 spends end otherwise")
    assert empty == ""
    assert any(re.search(r": refused \(\w+\), it must pass", line) for line in lines)
    assert len(lines) <= 6
