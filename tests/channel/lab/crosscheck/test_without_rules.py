"""Targets without rules: each law finds its mistake in a toy game, and nothing in the right one."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from chia_rs import AugSchemeMPL

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck
from channelsim.channel.lab.fuzz.fuzz_part import FuzzPart
from channelsim.channel.lab.laws import Needs, laws, laws_for
from channelsim.channel.lab.sites.program_words import GROUP_ORDER
from channelsim.channel.lab.targets.loading import load
from tests.channel.lab.fuzzing import searched
from tests.channel.lab.toys import MISTAKES, toy
from tests.sampling import one_in

WORK = 150_000

HANDS = 12
"""From fewer hands it is not known which numbers are never negative."""


def campaign(path: Path, work: float = WORK) -> FuzzPart:
    return searched(load(str(path)), "toys", work)


def test_nothing_is_said_of_a_right_game(tmp_path: Path) -> None:
    path = toy(tmp_path, hands=HANDS)
    result = campaign(path, 2 * WORK)
    assert result.findings == []
    assert crosscheck(load(str(path)), 5000, "s", 1).tally.findings == []
    assert set(result.tally.tried) == {law.name for law in laws_for(load(str(path)))}


@pytest.mark.parametrize("mistake", one_in(8, MISTAKES))
def test_each_law_finds_its_mistake(mistake: str, tmp_path: Path) -> None:
    found = campaign(toy(tmp_path, mistake, HANDS), 2 * WORK).findings
    law = {"evidence": "honest moves hold"}.get(mistake, mistake)
    assert law in {one.rule for one in found}
    name, *_ = MISTAKES[mistake]
    assert {one.place for one in found} == {name}


OPENS = """(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      {state} program evidence . rest)
  (include *standard-cl-23*)
  {include}
  (if (if (= (strlen MOVE) 16) {check} ()) (if (> MOVER_SHARE 499) {next} ()) ()))
"""


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ("(= (sha256 MOVE) mine)", set()),
        ("(if (= (sha256 MOVE) mine) 1 (= (sha256 MOVE) theirs))", {"by another secret"}),
        ("(if (= (sha256 MOVE) mine) 1 (= (logior 0 MOVE) 0))", {"by a certain secret"}),
        (
            "(= (substr (sha256 MOVE) 0 4) (substr mine 0 4))",
            {"but for a part of the hash"},
        ),
        # Bytes of a commitment that lead elsewhere are no part that is compared.
        ("(if (= (sha256 MOVE) mine) (if (= (substr mine 0 1) 300) () 1) ())", set()),
    ],
)
def test_other_secrets_and_parts_of_commitments_are_tried(
    check: str, found: set[str], tmp_path: Path
) -> None:
    include, then = '(include "hashes/last.clinc")', "(list LAST_HASH theirs 16)"
    first = OPENS.format(state="(mine theirs)", include=include, check=check, next=then)
    last = OPENS.format(
        state="image", include="", check="(= (sha256 MOVE) image)", next="(list 0 0 0)"
    )
    (tmp_path / "first.clsp").write_text(first)
    (tmp_path / "last.clsp").write_text(last)
    lines = []
    for number in range(6):
        mine, theirs = (sha256(bytes([number, side])).digest()[:16] for side in (0, 1))
        images = [f"0x{sha256(secret).hexdigest()}" for secret in (mine, theirs)]
        after = {"validator": "last", "state": images[1], "max_move_size": 16}
        fields = {"game": "x", "tag": "honest", "amount": 1000, "mover_share": 500, "evidence": 0}
        fields |= {"max_move_size": 16, "expect": "valid"}
        begins = {"id": f"first-{number}", "validator": "first", "state": images, "next": after}
        lines.append(fields | begins | {"move": mine.hex()})
        ends = {"id": f"last-{number}", "validator": "last", "state": images[1]}
        lines.append(fields | ends | {"move": theirs.hex()})
    (tmp_path / "honest.jsonl").write_text("\n".join(map(json.dumps, lines)))
    path = tmp_path / "two.toml"
    programs = '[programs]\nfirst = "first.clsp"\nlast = "last.clsp"\n'
    path.write_text(f'name = "two"\n{programs}[play]\nhonest = "honest.jsonl"\n')
    causes = [finding.cause for finding in crosscheck(load(str(path)), 1500, "s", 1).tally.causes()]
    assert {cause.rpartition(", ")[2] for cause in causes} == found


OPENING = """(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      {state} program evidence . rest)
  (include *standard-cl-23*)
  {include}
  (if (if (= (strlen MOVE) 33) {check} ()) (if (> MOVER_SHARE 499) {next} ()) ()))
"""

SCALAR = "(substr MOVE 1 33)"
OPENED = f"(= (pubkey_for_exp {SCALAR}) key)"
ORDER = f"0x{GROUP_ORDER.hex()}"


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (f"(if (> {SCALAR} 0) (if (> {ORDER} {SCALAR}) {OPENED} ()) ())", False),
        (f"(if (> {ORDER} {SCALAR}) {OPENED} ())", True),
        pytest.param(OPENED, True, marks=pytest.mark.long),
        pytest.param("1", False, marks=pytest.mark.long),  # nothing is checked: another matter
    ],
)
def test_a_number_has_no_other_that_differs_by_the_order_of_a_group(
    check: str, found: bool, tmp_path: Path
) -> None:
    include, then = '(include "hashes/last.clinc")', f"(list LAST_HASH {SCALAR} 16)"
    opening = OPENING.format(state="key", include=include, check=check, next=then)
    last = OPENS.format(state="state", include="", check="1", next="(list 0 0 0)")
    (tmp_path / "opening.clsp").write_text(opening)
    (tmp_path / "last.clsp").write_text(last)
    lines = []
    for number in range(6):
        scalar = AugSchemeMPL.key_gen(bytes([number]) * 32)
        shown = bytes(scalar).hex()
        after = {"validator": "last", "state": f"0x{shown}", "max_move_size": 16}
        fields = {"game": "x", "tag": "honest", "amount": 1000, "mover_share": 500, "evidence": 0}
        fields |= {"max_move_size": 33, "expect": "valid", "validator": "opening", "next": after}
        key = bytes(scalar.get_g1()).hex()
        opens = {"id": f"opening-{number}", "state": f"0x{key}", "move": f"07{shown}"}
        lines.append(fields | opens)
    (tmp_path / "honest.jsonl").write_text("\n".join(map(json.dumps, lines)))
    path = tmp_path / "points.toml"
    programs = '[programs]\nopening = "opening.clsp"\nlast = "last.clsp"\n'
    path.write_text(f'name = "points"\n{programs}[play]\nhonest = "honest.jsonl"\n')
    findings = crosscheck(load(str(path)), 1500, "s", 1).tally.causes()
    encodings = [finding.text for finding in findings if finding.rule == "one encoding"]
    assert any("which differs by 0x73eda753" in text for text in encodings) == found


@pytest.mark.long
def test_a_result_too_large_to_read_is_a_run_that_fails(tmp_path: Path) -> None:
    """2^45 pairs that share structure, after moves that begin with a 7."""
    path = toy(tmp_path)
    source = tmp_path / "commit.clsp"
    include, right = '(include "hashes/bid.clinc")', "(list BID_HASH MOVE 4)"
    text = source.read_text()
    twice = "(defun twice (n x) (if n (twice (- n 1) (c x x)) x))"
    text = text.replace(include, f"{include} {twice}").replace(
        right, f"(if (= (substr MOVE 0 1) 7) (list BID_HASH (twice 45 MOVE) 4) {right})"
    )
    source.write_text(text)
    assert {one.place for one in campaign(path, WORK / 4).findings} <= {"commit"}
    assert crosscheck(load(str(path)), 300, "s", 1).tally.runaway <= {"commit"}


def test_there_is_a_mistake_for_each_law_that_needs_no_rules() -> None:
    without = {law.name for law in laws() if law.needs in (Needs.NO_RULES, Needs.RECORDS)}
    assert without <= set(MISTAKES)


def test_a_target_of_which_nothing_is_known_is_refused(tmp_path: Path) -> None:
    path = toy(tmp_path)
    path.write_text(path.read_text().partition("[play]")[0])
    with pytest.raises(UsageError, match=r"names no rules.*\[play\] honest"):
        crosscheck(load(str(path)), 10, "s", 1)


BAD = {
    '{"id": 1}': "line 1",
    '"x"': "line 1",
    "not a file": "cannot be read",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_file_of_honest_play_is_one_line(line: str, tmp_path: Path) -> None:
    path = toy(tmp_path)
    file = tmp_path / "honest.jsonl"
    if line == "not a file":
        file.unlink()
    else:
        file.write_text(line + "\n")
    with pytest.raises(UsageError, match=BAD[line]) as error:
        load(str(path))
    assert "\n" not in str(error.value)


def test_cases_of_programs_that_there_are_not(tmp_path: Path) -> None:
    path = toy(tmp_path)
    file = tmp_path / "honest.jsonl"
    good = file.read_text()
    file.write_text(good.replace('"validator": "bid", "amount"', '"validator": "bit", "amount"'))
    with pytest.raises(UsageError, match="case bid-0: no program 'bit'"):
        load(str(path))
    file.write_text(good.replace('"expect": "valid"', '"expect": "slash"').replace('"next"', '"x"'))
    with pytest.raises(UsageError, match="honest"):
        load(str(path))
    file.write_text(good.replace('"mover_share": 0', '"mover_share": 1001'))
    with pytest.raises(UsageError, match="share is not within"):
        load(str(path))
