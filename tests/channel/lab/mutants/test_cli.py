"""`channelsim mutants`: the tables, the survivors, the document, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from channelsim.channel.lab.mutants.kinds import KINDS
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file
from tests.channel.lab.toys import toy

SMALL = ("--validator", "a", "--seconds", 1, "--jobs", 1)


def test_the_table_and_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "mutants", "calpoker", *SMALL)
    assert (ran.code, ran.err) == (0, "")
    assert "mutants of calpoker, by validator" in ran.out
    assert "mutants of calpoker, by kind" in ran.out
    assert "29 of 29 mutants killed (100.00%)" in ran.out
    assert "0 argued, 0 open" in ran.out


def test_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "mutants", "calpoker", *SMALL, "--json")
    assert ran.code == 0
    report = json.loads(ran.out)
    assert (report["total"]["made"], report["total"]["killed"], report["total"]["share"]) == (
        29,
        29,
        1.0,
    )
    assert (report["total"]["argued"], report["total"]["open"], report["interrupted"]) == (
        0,
        0,
        False,
    )
    assert list(report["validators"]) == ["a"]
    by_kind = report["validators"]["a"]["kinds"]
    assert sum(kind["made"] for kind in by_kind.values()) == 29
    assert list(report["kinds"]) == list(KINDS)
    assert report["survivors"] == []


@pytest.mark.long
def test_survivors_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # This check repeats the one before it: nothing notices that it is gone.
    twice = "(= (strlen MOVE) 32)                            ; CP-A-1"
    change = ("calpoker/a.clsp", twice, "(= (strlen MOVE) 32) (= 32 (strlen MOVE))")
    path = target_file(tmp_path, "calpoker", change)
    options = ("--validator", "a", "--seconds", 0.05, "--jobs", 1)
    ran = channelsim(capsys, "mutants", path, *options)
    assert ran.code == 1
    assert "OPEN: a, main, expression " in ran.out
    assert "(= 32 (strlen MOVE)) -> 1 in (i (= 32" in ran.out
    ran = channelsim(capsys, "mutants", path, *options, "--json")
    report = json.loads(ran.out)
    assert ran.code == 1
    assert report["total"]["open"] == len(report["survivors"]) > 0
    assert report["summary"] == f"{len(report['survivors'])} findings (worst: surviving mutant)"
    dropped = [one for one in report["survivors"] if one["new"] == "1"]
    assert {one["old"] for one in dropped} >= {
        "(= (strlen MOVE) 32)",
        "(= 32 (strlen MOVE))",
    }
    assert all(one["reason"] is None and one["runs"] > 0 for one in report["survivors"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ludo",), "ludo"),
        (("calpoker", "--validator", "end"), "calpoker has no such; it has a, b, c, d, e, referee"),
        (("calpoker", "--seconds", 0), "--seconds 0: a number from 0.001"),
        (("calpoker", "--jobs", 0), "jobs"),
        (("calpoker", "--seconds", "long"), "--seconds"),
    ],
)
def test_wrong_use(
    arguments: tuple[object, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = channelsim(capsys, "mutants", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_without_rules_or_play_there_is_nothing_to_be_held_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.hex").write_text("ff10ff02ffff010180")
    path = tmp_path / "t.toml"
    path.write_text('name = "mine"\n[programs]\na = "a.hex"\n')
    ran = channelsim(capsys, "mutants", path)
    assert (ran.code, ran.out) == (2, "")
    assert "mine: names no rules to check its programs against" in ran.err


def test_without_rules_honest_play_has_to_notice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no recorded case notices is open; a case that does notice it kills it."""
    target, cases = toy(tmp_path), tmp_path / "honest.jsonl"
    asked = ("mutants", target, "--validator", "reveal", "--seconds", 0.05, "--jobs", 1)
    ran = channelsim(capsys, *asked)
    assert ran.code == 1
    share = "reveal, main, expression 20: (= MOVER_SHARE number) -> 1"
    assert f"OPEN: {share}" in ran.out
    assert "mutants meet only the cases of honest play" in ran.out
    lines = cases.read_text().splitlines()
    last = next(json.loads(line) for line in lines if json.loads(line)["validator"] == "reveal")
    wrong = {**last, "id": "wrong share", "mover_share": last["mover_share"] - 1, "expect": "slash"}
    wrong.pop("next", None)
    cases.write_text("\n".join([*lines, json.dumps(wrong)]) + "\n")
    more = channelsim(capsys, *asked)
    assert share not in more.out
    assert "open" in more.out
    lines.append(json.dumps({**wrong, "id": "no", "expect": "raise"}))
    cases.write_text("\n".join(lines) + "\n")
    refused = channelsim(capsys, *asked)
    assert (refused.code, refused.out) == (2, "")
    assert "no: program: expected raise, got slash" in refused.err
