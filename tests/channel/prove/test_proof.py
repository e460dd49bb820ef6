"""Proofs of real programs by the command, and its results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.cli.work import prove as prove_command
from channelsim.channel.documents.document_files import read_document
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.system.process_executor import GONE, ProcessExecutor, WorkerDied
from channelsim.clsp.programs import SOURCE
from tests.channel.command import channelsim
from tests.channel.prove.programs import assemble

Capsys = pytest.CaptureFixture[str]

VALIDATORS = ("commitA", "commitB", "begin_round", "mid_round", "end")

COMMIT_B = {
    "(= (strlen MOVE) 32)": "(= (+ MOVER_SHARE bet_unit) (/ AMOUNT 2))",
    "(= MOVER_SHARE (- (/ AMOUNT 2) bet_unit))": "(not (logxor 32 (strlen MOVE)))",
}
"""The conditions of `commitB` in another order, and in other words."""

MID_ROUND = {
    "(> (strlen MOVE) 32)": "(not (> 33 (strlen MOVE)))",
    "(not (> (+ pot new_raise) stake))": "(> (+ stake 1) (+ new_raise pot))",
    "(= (strlen MOVE) (if (= street 1) 16 32))": "(= (strlen MOVE) (if (> street 1) 32 16))",
    "(- street 1)": "(+ -1 street)",
}
BEGIN_ROUND = {
    "(> (strlen MOVE) 31)": "(substr MOVE 0 (if (> (strlen MOVE) 31) 1 0))",
    "(= (> image waiter_image) (logand 1 (logxor image waiter_image)))": (
        "(= (> image waiter_image) (logxor (logand 1 image) (logand 1 waiter_image)))"
    ),
    "(> opening -1)": "(not (> 0 opening))",
}


def rewritten(folder: Path, name: str, changes: Mapping[str, str]) -> Path:
    """A target with Space Poker's programs, one of them rewritten.

    The others are compiled ones: a source would take the hash of the rewritten program.
    """
    text = (SOURCE / "spacepoker" / f"{name}.clsp").read_text("utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / f"{name}.clsp").write_text(text, "utf-8")
    sources = {
        each: SOURCE.parent / "compiled" / "spacepoker" / f"{each}.hex" for each in VALIDATORS
    }
    sources[name] = folder / f"{name}.clsp"
    lines = [f"{each} = {json.dumps(str(path))}" for each, path in sources.items()]
    target = folder / "rewrite.toml"
    target.write_text("\n".join(['name = "rewrite"', 'rules = "spacepoker"', "[programs]", *lines]))
    return target


def proved(capsys: Capsys, name: str, target: Path, *options: object) -> tuple[int, ProveDocument]:
    ran = channelsim(
        capsys, "prove", "spacepoker", "--validator", name, "--against", target, "--json", *options
    )
    return ran.code, msgspec.json.decode(ran.out, type=ProveDocument)


@pytest.mark.long
def test_a_rewrite_is_equal(capsys: Capsys, tmp_path: Path) -> None:
    target = rewritten(tmp_path, "commitB", COMMIT_B)
    code, document = proved(capsys, "commitB", target, "--jobs", 1)
    (proof,) = document.proofs
    assert (code, proof.verdict, document.findings) == (0, "equal", ())
    assert proof.sides["program of spacepoker"] != proof.sides["program of rewrite"]
    assert proof.confirmed == proof.paths >= 34
    assert (proof.unconfirmed, proof.undecided) == (0, ())
    assert proof.samples == 12 * 34


@pytest.mark.long
def test_the_last_line_says_it(capsys: Capsys) -> None:
    ran = channelsim(
        *(capsys, "prove", "spacepoker", "--validator", "commitA", "--against", "spacepoker"),
        *("--jobs", 1),
    )
    assert ran.code == 0
    assert "move: every value of 0 to 32 bytes" in ran.out
    last = ran.out.splitlines()[-1]
    assert last.startswith("equal: commitA of spacepoker and of spacepoker on every input")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "changes"), [("mid_round", MID_ROUND), ("begin_round", BEGIN_ROUND)]
)
def test_a_long_rewrite_is_equal(
    capsys: Capsys, tmp_path: Path, name: str, changes: Mapping[str, str]
) -> None:
    code, document = proved(capsys, name, rewritten(tmp_path, name, changes))
    (proof,) = document.proofs
    assert (code, proof.verdict, proof.undecided) == (0, "equal", ())
    assert proof.unconfirmed == 0


def test_one_wrong_pot_is_shown_as_a_vector(capsys: Capsys, tmp_path: Path) -> None:
    wrong = {
        "(= MOVER_SHARE (/ AMOUNT 2))": "(= MOVER_SHARE (/ (if (= AMOUNT 98765432100) 0 AMOUNT) 2))"
    }
    target = rewritten(tmp_path, "commitA", wrong)
    code, document = proved(capsys, "commitA", target, "--jobs", 1)
    assert (code, document.proofs[0].verdict) == (1, "different")
    (finding,) = document.findings
    assert finding.vector is not None
    assert finding.vector["amount"] == 98765432100
    assert (finding.severity, finding.cause) == ("unslashable cheat", "SP-COMMITA-2")
    assert (finding.place, finding.reach) == ("commitA", "played")
    assert finding.lost == 98765432100 // 2
    vectors = tmp_path / "case.jsonl"
    vectors.write_text(json.dumps(finding.vector) + "\n")
    assert channelsim(capsys, "vectors", "check", vectors).code == 0
    ran = channelsim(capsys, "vectors", "check", vectors, "--target", target)
    assert ran.code == 1
    assert "commitA" in ran.out
    path = tmp_path / "document.json"
    path.write_bytes(msgspec.json.encode(document))
    assert read_document(path) == document


def test_a_difference_in_a_key_has_no_vector(capsys: Capsys, tmp_path: Path) -> None:
    wrong = {"(= (strlen MOVE) 32) ": "(= (strlen MOVE) (if (= NONCE 77777) 31 32)) "}
    target = rewritten(tmp_path, "commitA", wrong)
    ran = channelsim(
        *(capsys, "prove", "spacepoker", "--validator", "commitA", "--against", target),
        *("--jobs", 1),
    )
    assert ran.code == 1
    assert "no conformance vector says this" in ran.out
    assert ran.out.splitlines()[-1].startswith("different: commitA of spacepoker and of rewrite")


@pytest.mark.long
def test_what_is_left_out_is_undecided(capsys: Capsys) -> None:
    options = ("--validator", "commitA", "--against", "spacepoker", "--jobs", 1)
    end = ("--validator", "end", "--against", "spacepoker", "--jobs", 1)
    late = channelsim(capsys, "prove", "spacepoker", *end, "--seconds", 0.1)
    assert late.code == 1
    assert "undecided: the time is over" in late.out
    assert late.out.splitlines()[-1].startswith("undecided: end")
    short = channelsim(capsys, "prove", "spacepoker", *options, "--move-bytes", 3)
    assert short.code == 1
    assert "undecided: no move ends valid within these bounds" in short.out


def test_wrong_use_is_one_line(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object) -> str:
        ran = channelsim(capsys, "prove", *arguments)
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1
        return ran.err

    both = ("spacepoker", "--against", "spacepoker")
    assert "no program of 'commitC'" in refused(*both, "--validator", "commitC")
    unplayed = tmp_path / "unplayed.toml"
    program = SOURCE.parent / "compiled" / "spacepoker" / "commitA.hex"
    unplayed.write_text(f'name = "u"\n[programs]\ncommitA = {json.dumps(str(program))}\n')
    alone = (unplayed, "--against", unplayed, "--validator", "commitA")
    assert "--move-bytes" in refused(*alone)
    monkeypatch.setattr(prove_command, "SOLVER", "no_such_solver")
    # A typing error is seen without the solver.
    assert "no program of 'commitC'" in refused(*both, "--validator", "commitC")
    assert "pip install z3-solver" in refused(*both, "--validator", "commitA")


def test_programs_without_rules_are_compared(capsys: Capsys, tmp_path: Path) -> None:
    """Their states have any shape within the bounds."""
    target = tmp_path / "own.toml"
    source = tmp_path / "pay.hex"
    source.write_text(assemble("(i (l STATE) MOVE EVIDENCE)").serialized.hex())
    target.write_text('name = "own"\n[programs]\npay = "pay.hex"\n')
    ran = channelsim(
        *(capsys, "prove", target, "--against", target, "--validator", "pay"),
        *("--move-bytes", 0, "--jobs", 1),
    )
    assert "state: any value of at most 4 pairs inside each other" in ran.out
    assert ran.code == 0


def test_a_process_that_is_killed_leaves_its_size_undecided(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(self: ProcessExecutor, *call: object) -> Future[object]:
        future: Future[object] = Future()
        future.set_exception(WorkerDied(GONE))
        return future

    monkeypatch.setattr(ProcessExecutor, "submit", submit)
    options = ("--validator", "commitA", "--against", "spacepoker", "--jobs", 2)
    ran = channelsim(capsys, "prove", "spacepoker", *options)
    assert ran.code == 1
    assert f"undecided: {GONE} (34 paths)" in ran.out
