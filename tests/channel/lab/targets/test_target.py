"""Targets: good ones, and every kind of bad one, each refused with one clear line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.loading import load, read
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file

GAME = registry.get("calpoker")


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_our_own_sources_are_our_own_programs(tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker", referee="tree/channel/referee.clsp")
    before = snapshot(tmp_path)
    target = load(str(path))
    assert target.programs == of_game(GAME).programs
    assert target.referee == of_game(GAME).referee
    assert target.symbols == of_game(GAME).symbols
    assert "popcount" in target.symbols["e"].values()
    assert "pay" in target.symbols["referee"].values()
    assert load(str(path)) == target == pickle.loads(pickle.dumps(target))  # from the cache
    assert snapshot(tmp_path) == before


def test_a_program_that_is_named_by_its_hash_is_the_targets_own(tmp_path: Path) -> None:
    change = ("calpoker/e.clsp", "(= (strlen MOVE) 18)", "(= (strlen MOVE) 19)")
    path = target_file(tmp_path, "calpoker", change)
    changed = read(path).hashes
    ours = of_game(GAME).hashes
    assert all(changed[name] != ours[name] for name in "abcde")


def test_included_files_count_for_the_cache(tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker")
    before = read(path).hashes
    lib = tmp_path / "tree" / "lib" / "masks.clinc"
    lib.write_text(lib.read_text().replace("(= (strlen mask) 1)", "(= (strlen mask) 2)"))
    after = read(path).hashes
    assert before["e"] != after["e"]


def test_hex_files_and_other_authors_names(tmp_path: Path) -> None:
    program = of_game(GAME).programs["a"]
    (tmp_path / "one.hex").write_text(program.serialized.hex() + "\n")
    (tmp_path / "honest.jsonl").write_text(HONEST + "\n")
    path = tmp_path / "t.toml"
    path.write_text('name = "x"\n[programs]\nfirst = "one.hex"\n[play]\nhonest = "honest.jsonl"\n')
    target = read(path)
    assert target.programs == {"first": program}
    assert target.symbols["first"] == {}
    assert [case.id for case in target.honest] == ["one"]
    with pytest.raises(UsageError, match="names no rules"):
        _ = target.game


HONEST = (
    '{"id": "one", "tag": "t", "game": "x", "validator": "first", "amount": 2, "mover_share": 1,'
    ' "max_move_size": 32, "move": "00", "state": 1, "evidence": "0x", "expect": "valid"}'
)

BAD = {
    "not TOML": ("name = ", "not TOML"),
    "no programs": ('name = "x"', "programs"),
    "an empty table": ('name = "x"\n[programs]', "names none"),
    "a path": ('name = "x"\n[programs]\n"../a" = "a.clsp"', "'../a' is not a name of a program"),
    "a key that is none": ('nmae = "x"\nname = "x"\n[programs]\na = "a.clsp"', "nmae"),
    "a wrong type": ('name = "x"\n[programs]\na = 1', "programs"),
    "no such rules": ('name = "x"\nrules = "ludo"\n[programs]\na = "a.clsp"', "ludo"),
    "a wrong name": (
        'name = "x"\nrules = "calpoker"\n[programs]\nq = "a.clsp"',
        "line 4, column 1: [programs] q: calpoker has no such validator; there are `a`, `b`",
    ),
    "one is missing": ('name = "x"\nrules = "calpoker"\n[programs]\na = "a.clsp"', "lacks b"),
    "no such file": ('name = "x"\n[programs]\na = "b.clsp"', "no file b.clsp"),
    "no such folder": ('name = "x"\ninclude = ["z"]\n[programs]\na = "a.clsp"', "no such folder"),
    "no honest moves": ('name = "x"\n[programs]\na = "a.clsp"\n[play]\nhonest = "h"', "honest"),
    "no referee": (
        'name = "x"\n[programs]\na = "a.clsp"\n[referee]\nprogram = "r"',
        "line 5, column 1: [referee] program: no file r",
    ),
    "it does not compile": ('name = "x"\n[programs]\na = "bad.clsp"', "bad.clsp"),
    "an empty path": (
        'name = "x"\n[programs]\na = ""',
        "line 3, column 1: [programs] a: '' is a folder, not a file",
    ),
    "a folder": ('name = "x"\n[programs]\na = "."', "a folder, not a file"),
    "not hex": ('name = "x"\n[programs]\na = "a.hex"', "not a CLVM program in hex"),
    "a cycle of hashes": ('name = "x"\n[programs]\np = "p.clsp"\nq = "q.clsp"', "a cycle: "),
    "a cycle of includes": ('name = "x"\n[programs]\na = "round.clsp"', "a cycle: "),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_target_is_one_line(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, said = BAD[kind]
    (tmp_path / "a.clsp").write_text("(mod (X) (include *standard-cl-23*) (+ X 1))")
    (tmp_path / "bad.clsp").write_text(
        '(mod (X) (include *standard-cl-23*) (include "gone.clinc") X)'
    )
    (tmp_path / "a.hex").write_text("ff")
    (tmp_path / "p.clsp").write_text('(mod () (include "hashes/q.clinc") Q_HASH)')
    (tmp_path / "q.clsp").write_text('(mod () (include "hashes/p.clinc") P_HASH)')
    (tmp_path / "round.clsp").write_text('(mod () (include "round.clinc") 1)')
    (tmp_path / "round.clinc").write_text('((include "round.clinc"))')
    path = tmp_path / "t.toml"
    path.write_text(text + "\n")
    ran = channelsim(capsys, "crosscheck", path)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert said in ran.err


@pytest.mark.parametrize("text", ["ludo", "gone.toml", "."])
def test_text_that_is_no_target_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "crosscheck", text)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
