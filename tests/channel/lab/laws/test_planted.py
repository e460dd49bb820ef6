"""Planted faults: our own sources, broken in one place each; the lab must find every one.

And it says nothing about the sources as they are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.lab.crosscheck.crosscheck import CrosscheckReport, crosscheck
from channelsim.channel.lab.targets.loading import load
from tests.channel.lab.broken import target_file
from tests.sampling import one_in

CASES = 2048
MORE = {"a boost one time in two": 8 * CASES, "ties go to the revealer": 8 * CASES}
"""Faults that show only when two hands are of one class."""

Fault = tuple[str, str, str, str]
"""The game, or the laws that find it; the file, what stands there, and what stands there then."""

VALIDATORS: dict[str, Fault] = {
    "length compared the wrong way": (
        *("spacepoker", "spacepoker/commitA.clsp"),
        *("(= (strlen MOVE) 32) ", "(> (strlen MOVE) 31) "),
    ),
    "share not looked at": (
        *("spacepoker", "spacepoker/commitA.clsp"),
        *("(= MOVER_SHARE (/ AMOUNT 2))", "1"),
    ),
    "share without the bet": (
        *("spacepoker", "spacepoker/commitB.clsp"),
        *("(- (/ AMOUNT 2) bet_unit)", "(/ AMOUNT 2)"),
    ),
    "next size off by one": (
        *("spacepoker", "spacepoker/commitA.clsp"),
        *("MOVE) 32)\n  )", "MOVE) 33)\n  )"),
    ),
    "commitment not opened": (
        *("spacepoker", "spacepoker/begin_round.clsp"),
        *("(= (sha256 (substr MOVE 0 32)) mover_image)", "1"),
    ),
    "two encodings of one bet": (
        *("spacepoker", "spacepoker/begin_round.clsp"),
        *("(is_minimal opening)", "1"),
    ),
    "negative bets": ("spacepoker", "spacepoker/begin_round.clsp", "(> opening -1)", "1"),
    "a bet of one too much": (
        *("spacepoker", "spacepoker/begin_round.clsp"),
        *(
            "(not (> (+ half_pot opening) (/ AMOUNT 2)))",
            "(> (+ 2 (/ AMOUNT 2)) (+ half_pot opening))",
        ),
    ),
    "the toss the other way": (
        *("spacepoker", "spacepoker/begin_round.clsp"),
        *("(> image waiter_image)", "(> waiter_image image)"),
    ),
    "a pong that bets": ("spacepoker", "spacepoker/begin_round.clsp", "(= (strlen MOVE) 32)", "1"),
    "negative raises": ("spacepoker", "spacepoker/mid_round.clsp", "(> new_raise 0)", "1"),
    "the players not swapped": (
        *("spacepoker", "spacepoker/mid_round.clsp"),
        *("raise waiter_image mover_image street", "raise mover_image waiter_image street"),
    ),
    "a street stays": ("spacepoker", "spacepoker/mid_round.clsp", "(- street 1)", "street"),
    "a shorter reveal": (
        *("spacepoker", "spacepoker/end.clsp"),
        *("(= (strlen MOVE) 17)", "(= (strlen MOVE) 16)"),
    ),
    "cards of one's choice": (
        *("spacepoker", "spacepoker/end.clsp"),
        *("(= (sha256 (substr MOVE 0 16)) mover_image)", "1"),
    ),
    "any selection": ("spacepoker", "spacepoker/end.clsp", "(is_selection (substr MOVE 16))", "1"),
    "bad evidence slashes": ("spacepoker", "spacepoker/end.clsp", "(x)", "()"),
    "ties go to the revealer": ("spacepoker", "lib/compare.clinc", "      0\n", "      -1\n"),
    "a boost one time in two": ("spacepoker", "spacepoker/cards.clinc", "number 3)", "number 2)"),
    "a mask that raises": (
        "spacepoker",
        "spacepoker/end.clsp",
        "(> selection -1)",
        "(> selection (x))",
    ),
    "four cards shown": (
        "calpoker",
        "calpoker/e.clsp",
        "(substr MOVE 17)) 5)",
        "(substr MOVE 17)) 4)",
    ),
    "discards not compared": (
        *("calpoker", "calpoker/e.clsp"),
        *("(= (sha256 (substr MOVE 0 17)) discard_commit)", "1"),
    ),
    "five cards given": (
        "calpoker",
        "calpoker/d.clsp",
        "(= (popcount MOVE) 4)",
        "(> (popcount MOVE) 3)",
    ),
    "another deal": ("calpoker", "calpoker/c.clsp", "seed AMOUNT)", "AMOUNT seed)"),
}

FILE = "channel/referee.clsp"

REFEREE: dict[str, Fault] = {
    "the size limit is not compared": (
        *("legal moves are safe illegal moves pay", FILE),
        *("(not (= (first_or_nil (drop 2 result)) MAX_MOVE_SIZE))", "()"),
    ),
    "the waiter is paid everything": ("shares", FILE, "(- AMOUNT MOVER_SHARE)", "AMOUNT"),
    "a share in more bytes": ("encodings", FILE, "(is_minimal share)", "1"),
    "a forged validator": (
        *("legal moves are safe", FILE),
        *("(= (infohash program_hash state) INFOHASH_A)", "1"),
    ),
    "the slash pays nothing": (
        *("illegal moves pay", FILE),
        *("(pay MOVER_PUBKEY payout_ph AMOUNT ())", "()"),
    ),
}


def check(path: Path, cases: int = CASES) -> CrosscheckReport:
    return crosscheck(load(str(path)), cases, "planted", jobs=1)


@pytest.mark.parametrize("game", one_in(2, ["calpoker", "spacepoker"]))
def test_nothing_is_said_of_correct_programs(game: str, tmp_path: Path) -> None:
    path = target_file(tmp_path, game, referee="tree/channel/referee.clsp")
    report = check(path)
    assert report.tally.findings == []
    assert min(report.tally.tried.values()) > 2


@pytest.mark.parametrize("fault", one_in(24, VALIDATORS))
def test_a_fault_in_a_validator_is_found(fault: str, tmp_path: Path) -> None:
    game, *change = VALIDATORS[fault]
    name, old, new = change
    report = check(target_file(tmp_path, game, (name, old, new)), MORE.get(fault, CASES))
    assert report.tally.broken("verdicts agree") > 0
    found = {finding.place for finding in report.tally.findings}
    assert found == {Path(name).stem if name.endswith(".clsp") else "end"}


@pytest.mark.parametrize("fault", one_in(4, REFEREE))
def test_a_fault_in_the_referee_is_found_by_its_law(fault: str, tmp_path: Path) -> None:
    names, *change = REFEREE[fault]
    file, old, new = change
    path = target_file(
        tmp_path, "spacepoker", (file, old, new), referee="tree/channel/referee.clsp"
    )
    report = check(path)
    assert report.tally.broken("verdicts agree") == 0
    laws = {found.rule for found in report.tally.findings}
    assert laws
    assert all(law in names for law in laws), laws
