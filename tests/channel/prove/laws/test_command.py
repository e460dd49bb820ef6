"""`channelsim prove` on a target without rules, and by the names of laws."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.prove.laws import laws
from tests.channel.command import channelsim
from tests.channel.prove.laws.trials import VALUE_OF_40_BITS, record
from tests.channel.prove.programs import assemble

Capsys = pytest.CaptureFixture[str]

RIGHT = f"(if (= (strlen MOVE) 1) {record('MOVE')} ())"
# A sum of two parts of the move, compared with a constant, decides on a mask.
RARE = f"(= (+ (substr MOVE 0 3) (* 65536 (substr MOVE 3 6))) {VALUE_OF_40_BITS})"
WRONG = f"(if (= (strlen MOVE) 6) {record(f'(if {RARE} () MOVE)')} ())"
STUCK = f"(if (= (strlen MOVE) 6) (if {RARE} (x) {record('MOVE')}) ())"


def target(folder: Path, text: str) -> Path:
    """A target without rules, of one program."""
    (folder / "only.hex").write_text(assemble(text).serialized.hex())
    path = folder / "small.toml"
    path.write_text('name = "small"\n[programs]\nonly = "only.hex"\n')
    return path


def proved(
    capsys: Capsys, path: Path, *options: object, longest: int = 6
) -> tuple[int, ProveDocument]:
    ran = channelsim(
        *(capsys, "prove", path, "--validator", "only", "--move-bytes", longest),
        *("--jobs", 1, "--evidence-pairs", 1, "--evidence-bytes", 5, "--json", *options),
    )
    assert ran.out, ran.err
    return ran.code, msgspec.json.decode(ran.out, type=ProveDocument)


def test_without_rules_all_laws_are_proved(capsys: Capsys, tmp_path: Path) -> None:
    code, document = proved(capsys, target(tmp_path, RIGHT), longest=1)
    verdicts = {proof.claim: proof.verdict for proof in document.proofs}
    assert (code, set(verdicts.values())) == (0, {"proved"})
    # Nothing is known of honest play.
    left_out = {"honest moves hold", "shares are bound", "commitments are bound"}
    assert set(verdicts) == {law.name for law in laws()} - left_out
    costs = {proof.claim: proof.cost for proof in document.proofs}
    assert 100 < costs["cost"] < 1_000_000


def test_a_rare_value_that_breaks_a_law_is_shown(capsys: Capsys, tmp_path: Path) -> None:
    code, document = proved(capsys, target(tmp_path, STUCK), "--law", "illegal-moves-pay")
    assert (code, [proof.verdict for proof in document.proofs]) == (1, ["refuted"])
    (finding,) = document.findings
    assert finding.severity == "theft"
    assert finding.text.startswith("the program raises on this move, whatever the evidence")
    assert finding.call is not None
    move = bytes.fromhex(str(finding.call.move).removeprefix("0x"))
    first, second = (int.from_bytes(part, "big", signed=True) for part in (move[:3], move[3:]))
    assert first + (second << 16) == 0x0123456789


def test_two_moves_of_a_rare_sum_lead_to_one_record(capsys: Capsys, tmp_path: Path) -> None:
    code, document = proved(capsys, target(tmp_path, WRONG), "--law", "one encoding")
    assert (code, [proof.verdict for proof in document.proofs]) == (1, ["refuted"])
    (finding,) = document.findings
    assert "two moves lead to the same record" in finding.text
    assert any(line.startswith("other move: 6 bytes: 0x") for line in finding.differs)


# It raises in a state that is no list, and in one with a number above 3.
LISTED = (
    "(if (> (f STATE) 3) (x) (if (= (strlen MOVE) 1)"
    " (if (= SHARE (/ AMOUNT 2)) (c PROGRAM_HASH (c (c (f STATE) (c MOVE ())) (c 4 ()))) ()) ()))"
)


def with_honest_play(path: Path, state: int) -> Path:
    """The target with a file of one honest move, in this state."""
    case = {
        "id": "small-only-00000",
        "tag": "honest",
        "game": "small",
        "validator": "only",
        "amount": 100,
        "mover_share": 50,
        "max_move_size": 1,
        "move": "07",
        "evidence": "0x",
        "state": [state],
        "expect": "valid",
        "next": {"validator": "only", "state": [state, "0x07"], "max_move_size": 4},
    }
    (path.parent / "honest.jsonl").write_text(msgspec.json.encode(case).decode() + "\n")
    path.write_text(path.read_text() + '[play]\nhonest = "honest.jsonl"\n')
    return path


@pytest.mark.long
def test_without_a_form_laws_are_about_states_of_honest_play(
    capsys: Capsys, tmp_path: Path
) -> None:
    path = target(tmp_path, LISTED)
    law = ("--law", "illegal moves pay")
    code, document = proved(capsys, path, *law, longest=1)
    (proof,) = document.proofs
    assert (code, proof.verdict) == (1, "undecided")
    assert "in some state" in proof.undecided[0].reason
    more = ("--law", "honest moves hold", "--law", "one encoding")
    code, document = proved(capsys, with_honest_play(path, 3), *law, *more, longest=1)
    assert (code, {proof.verdict for proof in document.proofs}) == (0, {"proved"})
    (proof,) = (proof for proof in document.proofs if proof.claim == law[1])
    assert "in 1 state of the file of honest play only" in proof.assumes


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--law", "one encodin"), "no law 'one encodin'"),
        (("--law", "all", "--against", "spacepoker"), "leave --against out"),
        (("--law", "commitments are bound"), "commitB: no honest move has to open a commitment"),
    ],
)
def test_wrong_use(capsys: Capsys, options: tuple[str, ...], text: str) -> None:
    ran = channelsim(capsys, "prove", "spacepoker", "--validator", "commitB", *options)
    assert ran.code == 2
    assert text in ran.err
