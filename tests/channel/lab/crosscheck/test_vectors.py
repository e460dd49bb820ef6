"""`vectors make` writes what `vectors check` passes; `--target` tries somebody's programs."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from channelsim.channel.lab.cases.explanation import happens
from channelsim.channel.lab.targets.loading import load
from channelsim.games import registry
from channelsim.games.vectors import check, read
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file
from tests.menu import each_game
from tests.paths import DATA


@each_game
def test_made_cases_pass(game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in ("one", "same", "other")]
    for file, seed in zip(files, ("s", "s", "t"), strict=True):
        ran = channelsim(
            capsys, "vectors", "make", game, "--cases", 300, "--seed", seed, "-o", file
        )
        assert ran.code == 0
    one, same, other = (file.read_bytes() for file in files)
    assert one == same != other
    lines = one.splitlines()
    assert len(set(lines)) == 300
    cases = list(read(lines))
    assert len({case.id for case in cases}) == 300
    assert {case.validator for case in cases} == set(registry.get(game).validators)
    raises = {"raise"} if game != "chinese" else set()  # no rule of it is about evidence alone
    assert {"valid", "slash"} | raises == {case.expect for case in cases}
    assert all(check(case) == [] for case in cases)
    assert all("next" not in json.loads(line) for line in lines if b'"slash"' in line)
    ran = channelsim(capsys, "vectors", "check", files[0])
    assert (ran.code, ran.out) == (0, "300 passed, 0 failed\n")


def test_a_targets_programs_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = DATA / "vectors" / "calpoker.jsonl"
    change = ("calpoker/d.clsp", "(= (popcount MOVE) 4)", "(> (popcount MOVE) 3)")
    ran = channelsim(
        capsys, "vectors", "check", "--target", target_file(tmp_path, "calpoker", change), cases
    )
    assert ran.code == 1
    *_, counts = ran.out.splitlines()
    passed, failed = (int(count.replace(",", "")) for count in re.findall(r"[\d,]*\d", counts))
    assert (passed + failed, failed) == (1221, 15)
    assert "program: expected slash, got valid" in ran.out
    assert "python" not in ran.out


def test_a_case_that_fails_says_what_the_program_does(tmp_path: Path) -> None:
    change = ("calpoker/d.clsp", "(= (popcount MOVE) 4)", "(> (popcount MOVE) 3)")
    target = load(str(target_file(tmp_path, "calpoker", change)))
    cases = read((DATA / "vectors" / "calpoker.jsonl").read_bytes().splitlines())
    texts = Counter(happens(target, case) for case in cases if case.validator == "d")
    rule = "CP-D-2 (Bob's mask has exactly four bits)"
    assert set(texts) == {"", f"the program accepts a move that {rule} forbids"}
    assert texts[f"the program accepts a move that {rule} forbids"] == 15


def test_what_the_target_does_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = DATA / "vectors" / "spacepoker.jsonl"
    ran = channelsim(
        capsys, "vectors", "check", "--target", target_file(tmp_path, "calpoker"), cases
    )
    assert ran.code == 1
    assert "a copy has no validator 'commitA'" in ran.out


def test_bad_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.jsonl"
    for arguments in (
        ("make", "ludo", "-o", file),
        ("make", "calpoker", "--cases", 0, "-o", file),
        ("make", "calpoker", "--cases", 1, "-o", tmp_path / "no" / "file"),
        ("make", "calpoker"),
        ("check", "--target", tmp_path / "gone.toml", file),
    ):
        ran = channelsim(capsys, "vectors", *arguments)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not file.exists()
