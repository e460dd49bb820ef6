"""Expected and actual results side by side: which part differs, by its name in the source."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel.findings.finding import ComparedPart
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.explanation import Deciding, compared, deciding, explanation
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.compiler import compile_source
from channelsim.games import registry
from channelsim.games.vectors import Case, arguments
from tests.channel.lab.broken import target_file
from tests.channel.lab.toys import toy


def changed(folder: Path, name: str, old: str, new: str) -> Target:
    """The toy with one place of one source changed."""
    path = toy(folder)
    source = folder / f"{name}.clsp"
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    return load(str(path))


def case_of(target: Target, name: str) -> Case:
    return next(case for case in target.honest if case.validator == name)


def parts(target: Target, name: str) -> dict[str, tuple[str, str]]:
    found = compared(target, case_of(target, name))
    return {one.part: (one.expected, one.actual) for one in found}


def test_a_result_as_expected_has_no_parts(tmp_path: Path) -> None:
    target = load(str(toy(tmp_path)))
    assert [compared(target, case) for case in target.honest] == [()] * len(target.honest)


def test_another_verdict_is_the_only_part(tmp_path: Path) -> None:
    target = changed(tmp_path, "commit", "(= MOVER_SHARE 0)", "(= MOVER_SHARE 1)")
    found = compared(target, case_of(target, "commit"))
    assert found == (ComparedPart("verdict", "valid", "slash"),)


def test_an_explanation_names_items_of_the_state_and_the_line_of_the_source(tmp_path: Path) -> None:
    target = changed(tmp_path, "bid", "(list image (+ MOVE 0)) 16", "(list image (+ MOVE 1)) 16")
    case = case_of(target, "bid")
    *table, source = explanation(target, case)
    assert [line.split() for line in table] == [
        ["expected", "actual"],
        ["next", "validator", "reveal", "reveal"],
        ["state:", "number", "90", "91"],
        ["size", "limit", "16", "16"],
    ]
    line = next(
        number
        for number, text in enumerate((tmp_path / "bid.clsp").read_text().splitlines(), 1)
        if "(+ MOVE 1)" in text
    )
    assert source == f"source: {tmp_path}/bid.clsp:{line}"
    assert list(explanation(target, case_of(target, "commit"))) == []


def test_a_game_that_goes_on_is_compared_with_its_end(tmp_path: Path) -> None:
    target = changed(tmp_path, "reveal", "(list 0 0 0)", "(list program_hash image 0)")
    found = parts(target, "reveal")
    assert found["next validator"] == ("none", "reveal")
    assert found["size limit"] == ("0", "0")


LONG = pytest.mark.long
OLD = '(include "hashes/bid.clinc")'


@pytest.mark.parametrize(
    "build", ["dialect", *(pytest.param(one, marks=LONG) for one in ("file", "bytes", "none"))]
)
def test_a_hash_of_another_build_is_named(build: str, tmp_path: Path) -> None:
    toy(tmp_path)
    bid = tmp_path / "bid.clsp"
    old = tmp_path / "old" / "bid.clsp"
    old.parent.mkdir()
    (tmp_path / "old" / "reveal.clsp").write_text((tmp_path / "reveal.clsp").read_text())
    reveal = compile_source(tmp_path / "reveal.clsp")
    others = {"reveal": reveal}
    program = compile_source(bid, others=others)
    match build:
        case "dialect":
            old.write_text(bid.read_text().replace("cl-23", "cl-21"))
            wrong = compile_source(old, others=others).hash
            said = "the hash of bid compiled as *standard-cl-21*"
        case "file":
            old.write_text(bid.read_text().replace("(> MOVE 0)", "(> MOVE 1)"))
            older = compile_source(old, others=others)
            (tmp_path / "bid.hex").write_text(older.serialized.hex())
            wrong, said = older.hash, "the hash of bid.hex, a compiled file beside the source"
        case "bytes":
            wrong = sha256(program.serialized).digest()
            said = "the hash of bid's bytes (SHA-256), not of its tree"
        case _:
            wrong, said = b"\xab" * 32, "not the hash of bid, nor of another build of it"
    target = changed(tmp_path, "commit", OLD, f"(defconstant BID_HASH 0x{wrong.hex()})")
    expected, actual = parts(target, "commit")["next validator"]
    assert (expected, actual.partition(" ")[2]) == ("bid", f"({said})")


def test_the_line_that_decides_is_that_of_the_source(tmp_path: Path) -> None:
    target = changed(tmp_path, "reveal", "(= (strlen MOVE) 16)", "(= (strlen MOVE) 15)")
    case = case_of(target, "reveal")
    environment = arguments(case, target.name, target.programs)
    line = (tmp_path / "reveal.clsp").read_text().splitlines().index("  (if (= (strlen MOVE) 15)")
    source = deciding(target, "reveal", environment, accepts=False)
    assert source == Deciding(f"{tmp_path}/reveal.clsp:{line + 1}")


def other_salt(right: Target) -> Case:
    """A reveal with another salt than the committed one, and the evidence of an honest opponent."""
    turn = next(turn for turn in plain_hands(right, b"salt") if turn.before.validator == "e")
    site = site_of(right, turn)
    move = bytes([turn.play.move[0] ^ 1]) + turn.play.move[1:]
    call = move, turn.play.share, site.held[-1]
    return vector(right, site, call, site.rules_say(right, *call), "salt", 0)


CHECK = "(= (sha256 (substr MOVE 0 17)) discard_commit)"
COMMENT = "  ; CP-E-4"


@pytest.mark.parametrize(
    ("left", "found"),
    [
        ("", "no line checks CP-E-4; the last test that passed is "),
        ("1" + COMMENT, ":46"),
        (f"1{COMMENT}\n    1{COMMENT}", "none of the lines that name CP-E-4 refuses this ("),
    ],
)
def test_no_line_is_marked_where_a_check_is_missing(left: str, found: str, tmp_path: Path) -> None:
    """The only line that names the rule of what is accepted, or the last test that passed."""
    path = target_file(tmp_path, "calpoker", ("calpoker/e.clsp", CHECK + COMMENT, left))
    target = load(str(path))
    wrong = other_salt(of_game(registry.get("calpoker")))
    *_, source = explanation(target, wrong, "CP-E-4")
    assert found in source
    assert ("the last test that passed is " in source) == (left != "1" + COMMENT)
    if not left:
        text = (tmp_path / "tree/calpoker/e.clsp").read_text().splitlines()
        assert "CP-E-6" in text[int(source.rpartition(":")[2]) - 1]
