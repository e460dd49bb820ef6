"""Coverage without a corpus: what is stored, what is played, and the lines of the sources."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from channelsim.channel.report.lcov import lcov
from channelsim.clsp.programs import SOURCE
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def records(text: str) -> dict[str, dict[str, list[list[str]]]]:
    """The records of an lcov file, by file and kind, each split at its commas."""
    files: dict[str, dict[str, list[list[str]]]] = {}
    for record in text.split("end_of_record\n")[:-1]:
        kinds: defaultdict[str, list[list[str]]] = defaultdict(list)
        for line in record.splitlines():
            kind, _, rest = line.partition(":")
            kinds[kind].append(rest.split(","))
        files[kinds["SF"][0][0]] = dict(kinds)
    return files


def line_with(path: Path, text: str) -> str:
    (number,) = [n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    return str(number)


def test_honest_play_is_enough_to_begin(tmp_path: Path, capsys: Capsys) -> None:
    """Only the author's own programs are shown, unless the others are asked for."""
    target = toy(tmp_path)
    ran = channelsim(capsys, "coverage", target)
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"^cases: recorded play \(\d+\)$", ran.out, re.MULTILINE)
    assert "referee" not in ran.out
    assert re.search(r"^referee +0 ", channelsim(capsys, "coverage", target, "--all").out, re.M)
    ran = channelsim(capsys, "coverage", "calpoker")
    assert ran.code == 0
    assert re.search(
        r"cases: the game's package \(\d+\), 100 hands of honest play \(\d+\)", ran.out
    )


def test_the_last_fuzz_and_campaigns_here_count(tmp_path: Path, here: Path, capsys: Capsys) -> None:
    target = toy(tmp_path)
    alone = json.loads(channelsim(capsys, "coverage", target, "--json").out)["programs"]
    channelsim(capsys, "fuzz", target, "--seconds", 0.5, "--jobs", 1)
    ran = channelsim(capsys, "coverage", target, "--json")
    more = json.loads(ran.out)["programs"]
    assert ran.code == 0
    reached = "branches_reached"
    assert all(more[name]["total"][reached] >= alone[name]["total"][reached] for name in alone)
    assert more["bid"]["total"][reached] > alone["bid"]["total"][reached]
    channelsim(capsys, "fuzz", target, "--work", 60_000, "--jobs", 1, "--out", "night")
    channelsim(capsys, "fuzz", "calpoker", "--work", 2, "--jobs", 1, "--out", "another")
    out = channelsim(capsys, "coverage", target).out
    assert ".channelsim/" in out
    assert "night/corpus" in out
    assert "another" not in out
    same = channelsim(capsys, "coverage", target, "--corpus", "night").out
    assert "cases: night (" in same


def test_a_corpus_that_no_longer_fits_is_left_out(
    tmp_path: Path, here: Path, capsys: Capsys
) -> None:
    """What nobody named is no error; what was named is one."""
    target = toy(tmp_path)
    channelsim(capsys, "fuzz", target, "--seconds", 1, "--jobs", 1)
    (stored,) = here.glob(".channelsim/*/corpus")
    (stored / "gone.jsonl").write_bytes((stored / "bid.jsonl").read_bytes())
    ran = channelsim(capsys, "coverage", target)
    assert ran.code == 0
    assert "has no program 'gone'" in ran.err
    assert channelsim(capsys, "coverage", target, "--corpus", stored).code == 2


def test_too_little_is_a_failure(tmp_path: Path, capsys: Capsys) -> None:
    target, log = toy(tmp_path), tmp_path / "log"
    ran = channelsim(capsys, "coverage", target, "--at-least", 100, "--sarif", log)
    assert ran.code == 1
    assert re.search(r"bid: branches reached: \d+ of \d+, not 100 %", ran.err)
    (run,) = json.loads(log.read_bytes())["runs"]
    places = [
        (place["artifactLocation"]["uri"], place["region"]["startLine"])
        for result in run["results"]
        for place in (result["locations"][0]["physicalLocation"],)
        if "region" in place
    ]
    source = tmp_path / "reveal.clsp"
    assert (str(source), int(line_with(source, "(= MOVER_SHARE number)"))) in places
    assert channelsim(capsys, "coverage", target, "--at-least", 20).code == 0


def test_lines_of_the_sources_in_the_format_of_lcov(tmp_path: Path, capsys: Capsys) -> None:
    target, file = toy(tmp_path), tmp_path / "c.info"
    assert channelsim(capsys, "coverage", target, "--lcov", file).code == 0
    files = records(file.read_text())
    assert set(files) == {str(tmp_path / f"{name}.clsp") for name in ("commit", "bid", "reveal")}
    source = tmp_path / "bid.clsp"
    bid = files[str(source)]
    counts = {line: int(cases) for line, cases in bid["DA"]}
    tested = line_with(source, "(> AMOUNT MOVE)")
    assert counts[tested] > 0
    # Honest bids are below the amount: the other side was never taken.
    sides = {side: taken for line, _, side, taken in bid["BRDA"] if line == tested}
    assert sides == {"0": str(counts[tested]), "1": "0"}
    assert int(bid["LF"][0][0]) == len(bid["DA"])
    assert int(bid["LH"][0][0]) == sum(int(cases) > 0 for _, cases in bid["DA"])
    assert int(bid["BRF"][0][0]) == len(bid["BRDA"])
    (function,) = bid["FNDA"]
    assert function[1] == "bid"


def test_a_line_that_nothing_runs_has_no_cases(tmp_path: Path, capsys: Capsys) -> None:
    target, file = toy(tmp_path), tmp_path / "c.info"
    source = tmp_path / "bid.clsp"
    never = "(if (if (= MOVE (sha256 MOVE 7))\n (= (sha256 MOVE 9) 1)\n (> MOVE 0))\n"
    source.write_text(source.read_text().replace("(if (> MOVE 0)", never))
    assert channelsim(capsys, "coverage", target, "--lcov", file).code == 0
    counts = {line: int(cases) for line, cases in records(file.read_text())[str(source)]["DA"]}
    assert counts[line_with(source, "(= MOVE (sha256 MOVE 7))")] > 0
    assert counts[line_with(source, "(sha256 MOVE 9)")] == 0


def test_a_games_own_sources_and_our_libraries(tmp_path: Path, capsys: Capsys) -> None:
    """Of an author's target, our libraries only on request; those of our games are ours anyway."""
    file = tmp_path / "c.info"
    channelsim(capsys, "coverage", "spacepoker", "--lcov", file)
    files = set(records(file.read_text()))
    assert str((SOURCE / "spacepoker" / "end.clsp").resolve()) in {
        str(Path(name).resolve()) for name in files
    }
    assert not any(name.endswith("referee.clsp") for name in files)
    channelsim(capsys, "coverage", "spacepoker", "--lcov", file, "--all")
    assert any(name.endswith("referee.clsp") for name in records(file.read_text()))


def test_no_files_are_no_records() -> None:
    assert lcov({}) == ""
