"""Illegal hidden values without rules: found where nothing refuses them, and nowhere else."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws import laws_for
from channelsim.channel.lab.laws.hidden_values_are_enforced import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.targets.loading import read
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.games.chance import Chance
from tests.channel.lab.toys import AMOUNT, HEAD
from tests.sampling import one_in

HANDS = 12
TRIES = 40

TARGET = """name = "cells"
[programs]
commit = "commit.clsp"
show = "show.clsp"
close = "close.clsp"
[play]
honest = "honest.jsonl"
hidden = "hidden.py"
"""

DECLARED = """
from channelsim.games.hidden import Hidden

def legal(chance):
    # A salt, then four cells, one of which has a ship.
    return chance.bytes(12) + bytes(chance.draw((0, 0, 0, 1), 4))

def possible(chance, value):
    if chance.chance(10):
        return b"short"
    assert sum(value[12:]) == 1  # it need not work on what is not legal
    at = 12 + chance.below(4)
    return value[:at] + bytes([chance.pick((0, 1, 2, 255))]) + value[at + 1 :]

HIDDEN = (Hidden("cells", legal, possible),)
"""

COMMIT = (
    HEAD.format(state="state", more='(include "hashes/show.clinc")')
    + """
  (if (= (strlen MOVE) 32) (list SHOW_HASH MOVE 16) ()))
"""
)

SHOW = (
    HEAD.format(state="image", more='(include "hashes/close.clinc")')
    + """
  (defun cell (value at) (substr value at (+ at 1)))
  (defun ships (value) (+ (cell value 12) (cell value 13) (cell value 14) (cell value 15)))
  (defun is_cell (byte) (if (> byte -1) (> 2 byte) ()))
  (defun are_cells (value at)
    (if (= at 16) 1 (if (is_cell (cell value at)) (are_cells value (+ at 1)) ())))
  (defun legal (value) (if (are_cells value 12) (= (ships value) 1) ()))
  (if (= (strlen MOVE) 16)
    (if (= (sha256 (substr MOVE 0 16)) image)
      {shown}
      ())
    ()))
"""
)

CLOSE = (
    HEAD.format(state="due", more="")
    + """
  (if MOVE () (if (= MOVER_SHARE due) (list 0 0 0) ())))
"""
)

LAST = "(if (= MOVER_SHARE 400) (list 0 0 0) ())"
FIRST = "(list CLOSE_HASH 400 0)"

RIGHT = {
    "the last move is refused": f"(if (legal MOVE) {LAST} ())",
    "an earlier move is refused": f"(if (legal MOVE) {FIRST} ())",
    "evidence names the cell": (
        f"(if evidence (if (is_cell (cell MOVE evidence)) {LAST} ()) {LAST})"
    ),
    "the liar leaves everything": (
        "(if (= MOVER_SHARE (if (legal MOVE) 400 AMOUNT)) (list 0 0 0) ())"
    ),
    "the liar gets nothing": "(list CLOSE_HASH (if (legal MOVE) 400 0) 0)",
}

WRONG = {
    "at the end": LAST,
    "before the end": FIRST,
    "only the sum": f"(if (= (ships MOVE) 1) {LAST} ())",
    "only the cells": f"(if (are_cells MOVE 12) {FIRST} ())",
    "at most one": f"(if (are_cells MOVE 12) (if (> 2 (ships MOVE)) {FIRST} ()) ())",
}


@pytest.mark.parametrize("shown", one_in(2, RIGHT))
def test_nothing_is_said_where_an_illegal_value_costs_the_liar(shown: str, tmp_path: Path) -> None:
    findings, tally = tried(cells(tmp_path, RIGHT[shown]))
    assert findings == []
    assert tally.tried[LAW.name] > TRIES


@pytest.mark.parametrize("shown", one_in(2, WRONG))
def test_an_illegal_value_that_costs_nothing_is_found(shown: str, tmp_path: Path) -> None:
    findings, _ = tried(cells(tmp_path, WRONG[shown]))
    assert {finding.place for finding in findings} == {"show"}
    assert all("a cells that is not legal is taken" in finding.text for finding in findings)
    assert all(finding.reach == "one player's own choice" for finding in findings)


def test_the_law_needs_a_declaration(tmp_path: Path) -> None:
    target = cells(tmp_path, LAST)
    assert LAW in laws_for(target)
    path = tmp_path / "cells.toml"
    path.write_text(TARGET.replace('hidden = "hidden.py"\n', ""))
    assert LAW not in laws_for(read(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "defines no HIDDEN, a tuple of `Hidden` values"),
        ("HIDDEN = 5", "defines no HIDDEN, a tuple of `Hidden` values"),
        ("HIDDEN = (5,)", "HIDDEN: a int is no `Hidden`"),
        ("HIDDEN = 1 / 0", "line 1: ZeroDivisionError: division by zero"),
        (
            "from channelsim.games.hidden import Hidden\nHIDDEN = [Hidden('a', 1, 2)]",
            "HIDDEN: `legal` and `possible` are functions",
        ),
    ],
)
def test_a_bad_declaration_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    cells(tmp_path, LAST)
    (tmp_path / "hidden.py").write_text(text)
    with pytest.raises(UsageError, match=r"hidden\.py: ") as error:
        read(tmp_path / "cells.toml")
    assert str(error.value).endswith(said)


def test_a_declaration_stands_beside_no_rules_of_a_game(tmp_path: Path) -> None:
    cells(tmp_path, LAST)
    path = tmp_path / "cells.toml"
    path.write_text(TARGET.replace("hidden.py", "gone.py"))
    with pytest.raises(UsageError, match=r"\[play\] hidden: no file gone\.py"):
        read(path)
    text = TARGET.partition("[programs]")[2].partition("[play]")
    play = f'name = "parity"\nrules = "calpoker"\n[programs]\n{{}}[play]{text[2]}'
    programs = "".join(f'{name} = "commit.clsp"\n' for name in "abcde")
    path.write_text(play.format(programs))
    with pytest.raises(UsageError, match=r"hidden: calpoker declares what its players hide"):
        read(path)


def test_another_declaration_is_another_target(tmp_path: Path) -> None:
    target = cells(tmp_path, LAST)
    inputs = target_inputs(target)
    (tmp_path / "hidden.py").write_text(DECLARED + "\n# changed\n")
    with pytest.raises(UsageError, match="another file of hidden values"):
        check_inputs(target, inputs)


def tried(target: Target) -> tuple[list[Finding], LabTally]:
    """What the law finds in many tries."""
    trial = Trial(
        *(target, RefereeRunner(target), recorded_sites(target)[0], []),
        FastChance(b"cells"),
        LabTally(),
    )
    return [finding for _ in range(TRIES) for finding in LAW.check(trial)], trial.tally


def cells(folder: Path, shown: str) -> Target:
    """The target in which this expression ends `show`, with recorded play."""
    sources = {"commit": COMMIT, "show": SHOW.replace("{shown}", shown), "close": CLOSE}
    for name, source in sources.items():
        (folder / f"{name}.clsp").write_text(source)
    (folder / "hidden.py").write_text(DECLARED)
    ends = "CLOSE_HASH" not in shown
    cases = [case for number in range(HANDS) for case in _hand(number, ends)]
    (folder / "honest.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "cells.toml").write_text(TARGET)
    return read(folder / "cells.toml")


def _hand(number: int, ends: bool) -> list[dict[str, Any]]:
    ships = Chance(bytes([number])).draw((0, 0, 0, 1), 4)
    value = sha256(bytes([number])).digest()[:12] + bytes(ships)
    image = sha256(value).hexdigest()
    show = {"validator": "show", "state": f"0x{image}", "max_move_size": 16}
    close = {"validator": "close", "state": 400, "max_move_size": 0}
    hand = [
        _case("commit", number, image, 1, 32, 0) | {"next": show},
        _case("show", number, value.hex(), f"0x{image}", 16, 400 if ends else 0),
    ]
    if not ends:
        hand[-1]["next"] = close
        hand.append(_case("close", number, "", 400, 0, 400))
    return hand


def _case(name: str, number: int, move: str, state: Any, size: int, share: int) -> dict[str, Any]:
    return {
        "id": f"{name}-{number}",
        "tag": "honest",
        "game": "cells",
        "validator": name,
        "amount": AMOUNT,
        "mover_share": share,
        "max_move_size": size,
        "move": move,
        "state": state,
        "evidence": "0x",
        "expect": "valid",
    }
