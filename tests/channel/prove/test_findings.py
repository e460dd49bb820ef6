"""Counterexamples as findings: how play comes to them, who loses what, and their stored files."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.findings.finding import Finding
from tests.channel.command import channelsim
from tests.channel.prove.test_campaign import target
from tests.channel.prove.test_proof import rewritten

Capsys = pytest.CaptureFixture[str]

SEVENS = f"0x{32 * '07'}"
CHOSEN = {
    "(= MOVER_SHARE (- (/ AMOUNT 2) bet_unit))": (
        f"(= MOVER_SHARE (if (= alices_image {SEVENS}) 0 (- (/ AMOUNT 2) bet_unit)))"
    )
}
"""Wrong if the opponent committed to a certain value."""

RAISED = {"(not (> (+ pot new_raise) stake))": "(not (> (+ pot new_raise) (+ stake 1)))"}
"""Wrong for one raise, in each state another one."""

NONCE = {"(= (strlen MOVE) 32) ": "(= (strlen MOVE) (if (= NONCE 77777) 31 32)) "}
"""Wrong for a field of the coin that vectors leave out."""


RAISES = "(if (= (strlen MOVE) 1) (f MOVE) ())"
RETURNS = "(if (= (strlen MOVE) 1) (c () ()) ())"
"""Programs that raise on a move, and that let it end the game."""


def shown(capsys: Capsys, folder: Path, name: str, changes: dict[str, str]) -> tuple[Finding, Path]:
    """The finding, and its file."""
    wrong = rewritten(folder, name, changes)
    out = folder / "out"
    options = ("--validator", name, "--against", wrong, "--jobs", 1, "--json", "--out", out)
    ran = channelsim(capsys, "prove", "spacepoker", *options)
    assert ran.code == 1
    (finding,) = msgspec.json.decode(ran.out, type=ProveDocument).findings
    (path,) = (out / "findings").iterdir()
    return finding, path


def replayed(capsys: Capsys, path: Path, *options: object) -> tuple[int, str]:
    ran = channelsim(capsys, "replay", path, *options)
    return ran.code, ran.out.splitlines()[-1]


@pytest.mark.long
def test_the_opponents_own_choice_leads_to_a_loss(capsys: Capsys, tmp_path: Path) -> None:
    finding, path = shown(capsys, tmp_path, "commitB", CHOSEN)
    assert (finding.severity, finding.reach) == ("unslashable cheat", "one player's own choice")
    assert finding.cause == "SP-COMMITB-2"
    assert finding.loss is not None
    assert finding.loss.loser == "Alice"
    assert finding.source_line.endswith("commitB.clsp:21")
    assert replayed(capsys, path) == (1, "rewrite: it still happens")
    assert replayed(capsys, path, "--target", "spacepoker")[0] == 0
    traced = channelsim(capsys, "trace", path)
    assert "The rules say slash" in traced.out.replace("\n", " ")


@pytest.mark.long
def test_the_solver_finds_the_case_in_a_state_of_play(capsys: Capsys, tmp_path: Path) -> None:
    finding, path = shown(capsys, tmp_path, "mid_round", RAISED)
    assert (finding.rule, finding.reach) == ("verdicts agree", "played")
    assert (finding.severity, finding.cause) == ("unslashable cheat", "SP-MID-4")
    assert "def test_" in finding.pytest
    page = tmp_path / "page.html"
    assert channelsim(capsys, "report", path, "-o", page).code == 0
    assert "unslashable cheat" in page.read_text()


def test_a_difference_without_a_vector_is_tried_again(capsys: Capsys, tmp_path: Path) -> None:
    finding, path = shown(capsys, tmp_path, "commitA", NONCE)
    assert (finding.rule, finding.cause, finding.vector) == ("prove", "equal", None)
    assert finding.text == "not equal: valid in spacepoker, slash in rewrite"
    assert replayed(capsys, path) == (1, "rewrite: it still happens")
    assert replayed(capsys, path, "--target", "spacepoker")[0] == 0
    assert "does not hold in commitA" in channelsim(capsys, "trace", path).out
    stored = msgspec.json.decode(path.read_bytes(), type=Finding)
    del stored.brun["expected"]
    path.write_bytes(msgspec.json.encode(stored))
    ran = channelsim(capsys, "replay", path)
    assert ran.code == 2
    assert "cannot try again" in ran.err


def test_a_broken_law_is_tried_again_on_its_inputs(capsys: Capsys, tmp_path: Path) -> None:
    """No vector says what a law breaks, where no rules are known."""
    folders = [tmp_path / name for name in ("wrong", "right")]
    for folder, text in zip(folders, (RAISES, RETURNS), strict=True):
        folder.mkdir()
        target(folder, folder.name, pay=text)
    wrong, right = (folder / f"{folder.name}.toml" for folder in folders)
    out = tmp_path / "out"
    options = ("--law", "illegal moves pay", "--move-bytes", 1, "--evidence-pairs", 0)
    ran = channelsim(capsys, "prove", wrong, *options, "--jobs", 1, "--out", out)
    assert ran.code == 1
    assert "refuted: pay of wrong (illegal moves pay)" in ran.out
    (path,) = (out / "findings").iterdir()
    assert replayed(capsys, path) == (1, "wrong: it still happens")
    assert replayed(capsys, path, "--target", right)[0] == 0
