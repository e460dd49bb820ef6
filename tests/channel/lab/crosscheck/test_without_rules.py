"""Targets without rules: each law finds its mistake in a toy game, and nothing in the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck
from channelsim.channel.lab.fuzz.campaign import CampaignResult
from channelsim.channel.lab.laws import Needs, laws, laws_for
from channelsim.channel.lab.target.target import load
from tests.channel.lab.campaigns import searched
from tests.channel.lab.toys import MISTAKES, toy
from tests.sampling import one_in

WORK = 150_000


def campaign(path: Path, work: float = WORK) -> CampaignResult:
    return searched(load(str(path)), "toys", work)


def test_nothing_is_said_of_a_right_game(tmp_path: Path) -> None:
    path = toy(tmp_path)
    result = campaign(path, 2 * WORK)
    assert result.found == []
    assert crosscheck(load(str(path)), 5000, "s", 1).tally.broken == {}
    assert set(result.tally.tried) == {law.name for law in laws_for(load(str(path)))}


@pytest.mark.parametrize("mistake", one_in(2, MISTAKES))
def test_each_law_finds_its_mistake(mistake: str, tmp_path: Path) -> None:
    found = campaign(toy(tmp_path, mistake), 2 * WORK).found
    law = {"evidence": "honest moves hold"}.get(mistake, mistake)
    assert law in {one.law for one in found}
    name, *_ = MISTAKES[mistake]
    assert {one.validator for one in found} == {name}


def test_a_result_too_large_to_read_is_a_run_that_fails(tmp_path: Path) -> None:
    """2^45 pairs that share structure, after moves that begin with a 7."""
    path = toy(tmp_path)
    source = tmp_path / "commit.clsp"
    include, right = '(include "hashes/bid.clinc")', "(list BID_HASH MOVE 4)"
    text = source.read_text()
    twice = "(defun twice (n x) (if n (twice (- n 1) (c x x)) x))"
    text = text.replace(include, f"{include} {twice}").replace(
        right, f"(if (= (substr MOVE 0 1) 7) (list BID_HASH (twice 45 MOVE) 4) {right})"
    )
    source.write_text(text)
    assert {one.validator for one in campaign(path).found} <= {"commit"}
    assert crosscheck(load(str(path)), 1000, "s", 1).tally.runaway <= {"commit"}


def test_there_is_a_mistake_for_each_law_that_needs_no_rules() -> None:
    without = {law.name for law in laws() if law.needs in (Needs.NO_RULES, Needs.RECORDS)}
    assert without <= set(MISTAKES)


def test_a_target_of_which_nothing_is_known_is_refused(tmp_path: Path) -> None:
    path = toy(tmp_path)
    path.write_text(path.read_text().partition("[play]")[0])
    with pytest.raises(UsageError, match=r"names no rules.*\[play\] honest"):
        crosscheck(load(str(path)), 10, "s", 1)


BAD = {
    '{"id": 1}': "line 1",
    '"x"': "line 1",
    "not a file": "cannot be read",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_file_of_honest_play_is_one_line(line: str, tmp_path: Path) -> None:
    path = toy(tmp_path)
    file = tmp_path / "honest.jsonl"
    if line == "not a file":
        file.unlink()
    else:
        file.write_text(line + "\n")
    with pytest.raises(UsageError, match=BAD[line]) as error:
        load(str(path))
    assert "\n" not in str(error.value)


def test_cases_of_programs_that_there_are_not(tmp_path: Path) -> None:
    path = toy(tmp_path)
    file = tmp_path / "honest.jsonl"
    good = file.read_text()
    file.write_text(good.replace('"validator": "bid", "amount"', '"validator": "bit", "amount"'))
    with pytest.raises(UsageError, match="case bid-0: no program 'bit'"):
        load(str(path))
    file.write_text(good.replace('"expect": "valid"', '"expect": "slash"').replace('"next"', '"x"'))
    with pytest.raises(UsageError, match="honest"):
        load(str(path))
    file.write_text(good.replace('"mover_share": 0', '"mover_share": 1001'))
    with pytest.raises(UsageError, match="share is not within"):
        load(str(path))
