"""`trace` shows why a run ended as it did, and refuses what it cannot read in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from channelsim.channel.lab.referee.referee_runs import Commitment, RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.targets.loading import read
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.values import int_to_atom, serialize, to_list
from channelsim.games import registry
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file
from tests.channel.written_findings import written
from tests.menu import each_game
from tests.paths import DATA
from tests.sampling import one_in

VECTORS = DATA / "vectors"
CASES = VECTORS / "spacepoker.jsonl"


def cases(game: str) -> Iterator[dict[str, object]]:
    yield from map(json.loads, (VECTORS / f"{game}.jsonl").read_text("utf-8").splitlines())


def test_a_slash_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "trace", CASES, "--case", "spacepoker-commitA-00001")
    assert ran.code == 0
    *steps, one, two, source = ran.out.splitlines()
    assert re.fullmatch(r"source: spacepoker/commitA\.clsp:\d+", source)
    assert steps == [
        "spacepoker, commitA: spacepoker-commitA-00001 (share)",
        "  AMOUNT = 40, MOVE = 0xcd4f…d0e8, MOVER_SHARE = 19, bet_unit = 10",
        "",
        "if (= (strlen MOVE) 32): yes",
        "if (= MOVER_SHARE (f (divmod AMOUNT 2))): no (19 and 20)",
        "",
    ]
    assert f"{one} {two}" == (
        "slash: the move is illegal, since (= MOVER_SHARE (f (divmod AMOUNT 2))) does not hold in"
        " commitA. The rules say so too, by SP-COMMITA-2 (With Alice's commitment, Bob's share is"
        " his whole stake)."
    )


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_breaks_each_line_once(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("trace", CASES, "--case", "spacepoker-commitA-00001")
    wide = channelsim(capsys, *command).out
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = channelsim(capsys, *command).out
    assert max(map(len, narrow.splitlines())) <= width
    *_, source = narrow.splitlines()
    assert source == wide.splitlines()[-1]
    ended = [text.split("\n\n")[-1].splitlines()[:-1] for text in (narrow, wide)]
    assert " ".join(ended[0]) == " ".join(ended[1])
    # A line with room for the words that begin the next one was broken twice.
    kept = len("(f (divmod AMOUNT 2)))")
    for line, after in pairwise(ended[0]):
        assert len(line) + 1 + max(kept, len(after.split()[0])) > width


def test_a_raise_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "trace", CASES, "--case", "spacepoker-end-00078")
    text = " ".join(ran.out.split())
    assert "is_selection(selection=()) is_mask(mask=(), bits=5) = () = ()" in text
    assert "if (is_selection evidence): no" in text
    assert "raise: the slash fails: (x) in end, since (is_selection evidence) does not hold" in text
    assert "by SP-END-4" in text


def test_a_raise_inside_of_a_test_is_no_answer_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = cases("spacepoker")
    case = next(c for c in found if (c["validator"], c["expect"]) == ("end", "raise"))
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(case | {"evidence": [31]}))
    ran = channelsim(capsys, "trace", file)
    assert "if (is_selection evidence)" not in ran.out
    assert "raise: the slash fails: (strlen mask) in is_mask raises (strlen of a pair)." in ran.out


def test_the_first_case_and_more_and_more_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    some, more, all_ = (
        channelsim(capsys, "trace", CASES, *options).out for options in ((), ("-v",), ("-vv",))
    )
    assert "valid: the move is legal; commitA returns (commitB's hash (10 0xcd4f…d0e8) 32)." in some
    assert "(strlen MOVE) = 32" in more
    assert "PROGRAM_HASH = commitA's hash" in more
    assert "#0 (if (= … 32) (if" in all_
    assert len(some.splitlines()) < len(more.splitlines()) < len(all_.splitlines())


@each_game
@pytest.mark.parametrize("options", one_in(4, [(), ("-v",), ("-vv",)]))
def test_every_kind_of_case_is_traced_in_lines_that_fit(
    game: str, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = {(case["validator"], case["expect"]): case for case in cases(game)}
    assert {validator for validator, _ in kinds} == set(registry.get(game).validators)
    for case in kinds.values():
        file = tmp_path / "one.jsonl"
        file.write_text(json.dumps(case))
        ran = channelsim(capsys, "trace", file, *options)
        lines = ran.out.splitlines()
        assert max(map(len, lines)) <= 100
        assert any(line.startswith(f"{case['expect']}: ") for line in lines)
        assert "The rules say so too" in " ".join(ran.out.split())
        assert "The case expects" not in ran.out


def test_a_program_that_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = ("spacepoker/commitA.clsp", "(= (strlen MOVE) 32) ", "(> (strlen MOVE) 31) ")
    target = target_file(tmp_path, "spacepoker", change)
    case = next(c for c in cases("spacepoker") if c["validator"] == "commitA")
    longer = case | {"move": f"{case['move']}00", "expect": "slash"}
    del longer["next"]
    file = tmp_path / "finding.json"
    file.write_text(written(vector=longer))
    ran = channelsim(capsys, "trace", file, "--target", target)
    text = " ".join(ran.out.split())
    assert "a copy, commitA: " in text
    assert "if (> (strlen MOVE) 31): yes (33 and 31)" in text
    assert "valid: the move is legal; commitA returns" in text
    assert "The rules say slash, by SP-COMMITA-1" in text
    assert "The case expects slash." in text


def bare(solution: list[object] | bytes) -> dict[str, str]:
    """A spend of the coin after a reveal that ends a hand: its referee, by timeout or slash."""
    target = of_game(registry.get("spacepoker"))
    runner = RefereeRunner(target)
    site = next(
        s
        for s in generate_sites(target, b"x" * 32, FastChance(b"1"), beyond=False)
        if s.validator == "end"
    )
    declared = Commitment(b"", b"")
    fields = runner.after(site, site.play.move, int_to_atom(site.play.share), declared)
    program = target.programs["end"].value
    slash = to_list([site.state, program, site.held[0], b"\x0a" * 32])
    environment = serialize(slash) if solution == b"slash" else serialize(to_list([b"", b""]))
    return {
        "program": runner.puzzle(fields).serialized.hex(),
        "environment": environment.hex(),
    }


def test_a_bare_run_names_the_referee_and_the_validator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "finding.json"
    file.write_text(written(brun=bare(b"slash")))
    ran = channelsim(capsys, "trace", file)
    text = " ".join(ran.out.split())
    assert "referee(MOVER_PUBKEY=0xaaaa…aaaa (48 bytes), " in text
    assert "end(PROGRAM_HASH=end's hash, " in text
    assert "showdown(waiter_preimage=" in text
    assert "raise: (x) in slash, since (l (drop 3 result)) does not hold." in text
    file.write_text(written(brun=bare(b"timeout")))
    text = " ".join(channelsim(capsys, "trace", file).out.split())
    assert "raise: (x) in pay, since payout_ph does not hold." in text


def test_a_finding_in_other_programs_is_not_traced_in_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(cases("spacepoker"))
    run = {"program": "ff10ff02ff0580", "environment": "ff02ff0380"}
    file = tmp_path / "finding.json"
    file.write_text(written(vector=case, brun=run))
    ran = channelsim(capsys, "trace", file)
    assert ran.out.splitlines()[-1] == "valid; the run returns 5."
    ours = of_game(registry.get("spacepoker")).programs["commitA"].serialized.hex()
    file.write_text(written(vector=case, brun=run | {"program": ours}))
    assert "spacepoker, commitA: " in channelsim(capsys, "trace", file).out


def test_a_finding_in_a_referee_is_shown_by_its_spend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The validator decides the case as it should, so the case would show nothing."""
    case = next(c for c in cases("spacepoker") if c["validator"] == "end")
    file = tmp_path / "finding.json"
    file.write_text(written(vector=case, brun=bare(b"slash"), source="spacepoker"))
    assert channelsim(capsys, "trace", file).out.startswith("the run\n")


def test_a_finding_finds_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = ("spacepoker/commitA.clsp", "(= (strlen MOVE) 32) ", "(> (strlen MOVE) 31) ")
    path = target_file(tmp_path, "spacepoker", change)
    program = read(path).programs["commitA"].serialized.hex()
    case = next(cases("spacepoker"))
    document = {
        "vector": case,
        "source": str(path),
        "brun": {"program": program, "environment": "80"},
    }
    file = tmp_path / "finding.json"
    file.write_text(written(**document))
    assert channelsim(capsys, "trace", file).out.startswith("a copy, commitA: ")
    # It is gone, or not what it was: what is left is the run.
    for source in ("gone.toml", "spacepoker", ""):
        file.write_text(written(**document | {"source": source}))
        ran = channelsim(capsys, "trace", file)
        assert ran.out.startswith("the run\n")
        assert "raise: " in ran.out


@pytest.mark.usefixtures("early_cut_offs")
def test_an_endless_run_is_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # (a 2 3) in an environment whose code is (a 1 1), itself: it applies itself for ever.
    file = tmp_path / "finding.json"
    run = {"program": "ff02ff02ff0580", "environment": "ffff02ff01ff0180ffff02ff01ff018080"}
    file.write_text(written(brun=run))
    ran = channelsim(capsys, "trace", file)
    assert "Its steps are not all here: too deep." in ran.out


BAD = {
    "nothing": ("", (), "has no cases"),
    "no JSON": ("{", (), "line 1"),
    "no case": ('{"id": "x"}', (), "line 1: the key `tag` is missing"),
    "a list": ("[1]", (), "line 1"),
    "an empty finding": (written(), (), "holds neither"),
    "a finding of no case": (
        written(vector={"id": "x"}),
        (),
        "key `vector`: the key `tag` is missing",
    ),
    "a run without hex": (
        written(brun={"program": "zz", "environment": ""}),
        (),
        "key `brun`: program: not hexadecimal: 'zz'",
    ),
    "a run of no CLVM": (written(brun={"program": "ff", "environment": "80"}), (), "key `brun`"),
    "a run without environment": (written(brun={"program": "80"}), (), "key `brun`"),
    "deep": ('{"vector": ' + "[" * 99999, (), "line 1"),
    "no such case": (None, ("--case", "x"), "has no case x"),
    "a program that is too deep": (
        written(brun={"program": "ff10ff" * 60_000 + "80" * 60_001, "environment": "80"}),
        (),
        "nested too deep",
    ),
    "a case of a finding": (written(), ("--case", "x"), "--case is for files"),
    "a finding of another version": (
        '{"format": "channelsim crosscheck finding 1"}',
        (),
        "run the command that found it again",
    ),
    "no such target": (None, ("--target", "ludo"), "ludo"),
    "another game": (None, ("--target", "calpoker"), "calpoker has no validator 'commitA'"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_traced_is_one_line(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, options, said = BAD[kind]
    file = tmp_path / "file.json"
    file.write_text(CASES.read_text().splitlines()[0] if text is None else text)
    ran = channelsim(capsys, "trace", file, *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err
    ran = channelsim(capsys, "trace", tmp_path / "gone")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
