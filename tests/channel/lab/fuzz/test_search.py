"""Mistakes that hide from mutations of honest moves, in programs without rules and with."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel.lab.fuzz.findings import root
from channelsim.channel.lab.targets.loading import load
from tests.channel.lab.broken import target_file
from tests.channel.lab.fuzzing import searched
from tests.channel.lab.toys import HIDDEN, toy
from tests.sampling import one_in

WORK = 300_000


@pytest.mark.parametrize("mistake", one_in(4, HIDDEN))
def test_a_hidden_mistake_is_found(mistake: str, tmp_path: Path) -> None:
    target = load(str(toy(tmp_path, mistake)))
    found = searched(target, "b", WORK).findings
    assert {one.place for one in found} == {HIDDEN[mistake][-1][0]}
    assert {one.severity for one in found} == {"theft"}


RARE = (
    *("spacepoker/end.clsp", "(= (strlen MOVE) 17) "),
    "(= (strlen MOVE) (if (= (strlen (logand waiter_preimage waiter_preimage)) 15) 18 17))",
)
"""A preimage that can be written in fewer bytes comes once in 256 showdowns."""


@pytest.mark.long
def test_a_mistake_at_a_rare_encoding_is_found(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", RARE)))
    found = searched(target, "g", 2 * WORK).findings
    assert {one.place for one in found} == {"end"}


ONCE = "(if (= MOVER_SHARE number) (list 0 0 0) ())"
"""The share of `reveal`, which is wrong then where a hash divides by a number: it is no atom of a
state."""

ONCE_RULES = """
from hashlib import sha256
from channelsim.clsp.values import atom_to_int
from channelsim.games.contract import Slash, Valid

def reveal(state, move, share, amount, evidence, hashes):
    image, (number, _) = state
    if len(move) != 16 or sha256(move).digest() != image:
        return Slash("REVEAL-1")
    return Valid(None) if share == atom_to_int(number) else Slash("REVEAL-2")
"""


@pytest.mark.parametrize(
    ("times", "work"), [(4000, WORK), pytest.param(40_000, 20 * WORK, marks=pytest.mark.long)]
)
def test_a_mistake_at_a_value_that_hardly_ever_comes_is_found(
    times: int, work: int, tmp_path: Path
) -> None:
    path, source = toy(tmp_path), tmp_path / "reveal.clsp"
    rare = f"(r (divmod (logand 0xffffffff (sha256 image MOVE)) {times}))"
    text = source.read_text()
    assert ONCE in text
    source.write_text(text.replace("MOVER_SHARE number", f"MOVER_SHARE (if {rare} number 0)"))
    (tmp_path / "rules.py").write_text(ONCE_RULES)
    path.write_text(f'rules = "rules.py"\n{path.read_text()}')
    found = searched(load(str(path)), "a", work).findings
    assert {one.place for one in found} == {"reveal"}
    assert {one.severity for one in found} >= {"theft"}


HEADED = """(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      image program evidence . rest)
  (include *standard-cl-23*)
  (defun-inline number (MOVE) (substr MOVE {size} (strlen MOVE)))
  (if (if (> (strlen MOVE) {size}) (= (sha256 (substr MOVE 0 {size})) image) ())
    (if (if (> (number MOVE) 0) (> AMOUNT (number MOVE)) ())
      (if (= MOVER_SHARE (+ (number MOVE) 0)) (list 0 0 0) ())
      ())
    ()))
"""
"""A secret of this size, and a number behind it: in the fewest bytes, which nothing checks."""

HEADED_RULES = """
from hashlib import sha256
from channelsim.clsp.values import atom_to_int, is_minimal
from channelsim.games.contract import Slash, Valid

def reveal(image, move, share, amount, evidence, hashes):
    head, number = move[:{size}], move[{size}:]
    if sha256(head).digest() != image or not 0 < atom_to_int(number) < amount:
        return Slash("REVEAL-1")
    if share != atom_to_int(number):
        return Slash("REVEAL-2")
    return Valid(None) if is_minimal(number) else Slash("REVEAL-3")
"""


@pytest.mark.parametrize("size", [20, pytest.param(48, marks=pytest.mark.long)])
def test_a_mistake_behind_a_head_of_any_length_is_found(size: int, tmp_path: Path) -> None:
    (tmp_path / "reveal.clsp").write_text(HEADED.format(size=size))
    (tmp_path / "rules.py").write_text(HEADED_RULES.format(size=size))
    secrets = [bytes([number]) * size for number in range(1, 9)]
    lines = [
        {
            "id": f"{secret[0]}",
            "tag": "honest",
            "game": "x",
            "validator": "reveal",
            "amount": 1000,
            "mover_share": 300,
            "max_move_size": size + 9,
            "move": f"{secret.hex()}012c",
            "state": f"0x{sha256(secret).hexdigest()}",
            "evidence": 0,
            "expect": "valid",
        }
        for secret in secrets
    ]
    (tmp_path / "honest.jsonl").write_text("\n".join(map(json.dumps, lines)))
    path = tmp_path / "target.toml"
    path.write_text(
        'name = "headed"\nrules = "rules.py"\n[programs]\nreveal = "reveal.clsp"\n'
        '[play]\nhonest = "honest.jsonl"\n'
    )
    found = searched(load(str(path)), "a", 100_000).findings
    assert "REVEAL-3" in {root(one)[1] for one in found}


LENGTH = "(= (strlen MOVE) 32) "
COMPARED = {
    "a constant of five bytes": (
        *("spacepoker/commitA.clsp", LENGTH),
        f"{LENGTH}(if (= (substr MOVE 9 14) 0x1122334455) 0 1) ",
    ),
    "a number of five bytes": (
        *("spacepoker/mid_round.clsp", "(is_minimal new_raise) "),
        "(is_minimal new_raise) (if (= new_raise 0x0102030405) 0 1) ",
    ),
    "two images that begin alike": (
        *("spacepoker/mid_round.clsp", "(rules\n"),
        "(rules (if (= (substr mover_image 0 4) (substr waiter_image 0 4)) 0 1)\n",
    ),
}
"""A legal move that is slashed where something equals another thing; with the work after which the
search by operands finds it. Chance would need 2^32 runs or more."""


@pytest.mark.parametrize(
    ("mistake", "work"),
    [
        ("a constant of five bytes", 30_000),
        pytest.param("a number of five bytes", 1_500_000, marks=pytest.mark.long),
        pytest.param("two images that begin alike", 800_000, marks=pytest.mark.long),
    ],
)
def test_what_a_program_compares_is_copied(mistake: str, work: int, tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", COMPARED[mistake])))
    found = searched(target, "a", work).findings
    assert {(one.severity, one.cause) for one in found} == {("theft", "a legal move is slashed")}


KICKERS = (
    *("spacepoker/hands.clinc", "(fields -4 groups (c boost (fields 0 groups ())))"),
    "(if (> (f groups) 63) (fields -4 groups (list boost (logand 15 (f groups))))"
    " (fields -4 groups (c boost (fields 0 groups ()))))",
)
"""Of four of a kind the kicker is not compared."""


@pytest.mark.long
def test_a_rare_meeting_of_hands_is_found_and_explained(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", KICKERS)))
    found = [one for one in searched(target, "c", 220_000).findings if not one.order_only]
    assert {one.place for one in found} == {"end"}
    assert {one.severity for one in found} & {"theft", "unslashable cheat"}
    for one in found:
        assert one.text.count("four of a kind") == 2
        assert "hand is better" in one.text
        assert "spacepoker/end.clsp:" in one.source_line


def test_each_recorded_line_is_looked_at_first(tmp_path: Path) -> None:
    """A share that is too low where one hand in many ends, as ties do."""
    path = toy(tmp_path, hands=16)
    source = tmp_path / "reveal.clsp"
    right, wrong = "(= MOVER_SHARE number)", "(if (= number 500) 1 (= MOVER_SHARE number))"
    assert source.read_text().count(right) == 1
    source.write_text(source.read_text().replace(right, wrong))
    part = searched(load(str(path)), "a", 100)
    places = [(finding.rule, finding.place) for finding in part.findings]
    assert places == [("shares are bound", "reveal")]
