"""The share of an honest move that is empty: bound, not bound, or the move itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws.shares_are_bound import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.targets.loading import load

HEAD = """(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      state)
  (include *standard-cl-23*)
"""
OFFER = HEAD + '(include "hashes/answer.clinc") (if (= MOVE ()) {} ()))'
ANSWER = HEAD + "(if (= MOVE ()) {} ()))"
RIGHT, WRONG = "(if (> (/ AMOUNT 2) MOVER_SHARE) () (list 0 0 0))", "(list 0 0 0)"
THE_MOVE, NO_MOVE = "(list ANSWER_HASH MOVER_SHARE 0)", "(list ANSWER_HASH 300 0)"


@pytest.mark.parametrize(
    ("offer", "answer", "expected"),
    [
        (THE_MOVE, RIGHT, set()),
        (THE_MOVE, WRONG, {"answer"}),
        (NO_MOVE, RIGHT, {"offer"}),
    ],
)
def test_the_share_of_an_empty_move(
    offer: str, answer: str, expected: set[str], tmp_path: Path
) -> None:
    (tmp_path / "offer.clsp").write_text(OFFER.format(offer), "utf-8")
    (tmp_path / "answer.clsp").write_text(ANSWER.format(answer), "utf-8")
    programs = '[programs]\noffer = "offer.clsp"\nanswer = "answer.clsp"\n'
    file = tmp_path / "target.toml"
    file.write_text(f'name = "offers"\n{programs}[play]\nhonest = "honest.jsonl"\n', "utf-8")
    leads = {"validator": "answer", "state": 300, "max_move_size": 0}
    cases = [case("offer", 0, 300) | {"next": leads}, case("answer", 300, 500)]
    (tmp_path / "honest.jsonl").write_text("\n".join(map(json.dumps, cases)) + "\n", "utf-8")
    target = load(str(file))
    found = set()
    for site in recorded_sites(target):
        chance, tally = FastChance(b"shares"), LabTally()
        trial = Trial(target, RefereeRunner(target), site, [], chance, tally)
        found |= {finding.place for finding in LAW.check(trial)}
    assert found == expected


def case(validator: str, state: int, share: int) -> dict[str, Any]:
    return {
        "id": validator,
        "tag": "honest",
        "game": "offers",
        "validator": validator,
        "amount": 1000,
        "mover_share": share,
        "max_move_size": 0,
        "move": "",
        "state": state,
        "evidence": 0,
        "expect": "valid",
    }
