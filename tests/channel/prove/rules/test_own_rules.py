"""The claim "rules" of a target whose rules are a file of its author's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.channel.command import channelsim
from tests.channel.lab.crosscheck.test_own_rules import BID, RAW, with_rules
from tests.sampling import one_row_in

Capsys = pytest.CaptureFixture[str]


def proved(
    capsys: Capsys, path: Path, name: str, *more: object
) -> dict[str, tuple[str, list[str]]]:
    """The verdict, and the reasons of what is undecided, of each claim about a validator."""
    ran = channelsim(
        capsys, "prove", path, "--validator", name, "--jobs", 1, "--json", "--seconds", 20, *more
    )
    assert ran.out, ran.err
    return {
        proof["claim"]: (proof["verdict"], [gap["reason"] for gap in proof["undecided"]])
        for proof in json.loads(ran.out)["proofs"]
    }


@pytest.mark.parametrize(("rules", "name"), one_row_in(2, [(BID, "bid"), (RAW, "commit")]))
def test_a_program_obeys_the_rules_of_a_file(
    rules: str, name: str, tmp_path: Path, capsys: Capsys
) -> None:
    assert proved(capsys, with_rules(tmp_path, rules), name) == {"rules": ("proved", [])}


@pytest.mark.parametrize(
    ("rules", "name", "old", "new"),
    one_row_in(
        2,
        [
            (BID, "bid", "number >= amount", "number >= amount or number == 77001"),
            (BID, "bid", "Revealing(state.image, number)", "Revealing(state.image, number | 64)"),
            (RAW, "commit", 'Next("bid", move, 4)', 'Next("bid", move[::-1], 4)'),
            (RAW, "commit", "or share:", "or share and share != 77001:"),
        ],
    ),
)
def test_a_rule_that_the_program_does_not_have_is_shown(
    rules: str, name: str, old: str, new: str, tmp_path: Path, capsys: Capsys
) -> None:
    assert old in rules
    path = with_rules(tmp_path, rules.replace(old, new))
    assert proved(capsys, path, name)["rules"][0] == "refuted"


@pytest.mark.long
def test_a_reader_that_is_a_function_says_which_states_there_are(
    tmp_path: Path, capsys: Capsys
) -> None:
    reader = """
from channelsim.games.errors import BadState

def read(value, hashes):
    if not isinstance(value, bytes) or len(value) > 2:
        raise BadState("no short atom")
    return value

READ = {"commit": read}
"""
    rules = RAW.replace("or share:", "or share or state == b'qzq':") + reader
    assert proved(capsys, with_rules(tmp_path, rules), "commit")["rules"][0] == "proved"
    wide = rules.replace("len(value) > 2", "len(value) > 3")
    (tmp_path / "wide").mkdir()
    assert proved(capsys, with_rules(tmp_path / "wide", wide), "commit")["rules"][0] == "refuted"


@pytest.mark.long
def test_validators_without_rules_are_about_laws(tmp_path: Path, capsys: Capsys) -> None:
    assert "rules" not in proved(capsys, with_rules(tmp_path, RAW), "reveal", "--law", "cost")
